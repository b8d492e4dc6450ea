/** Content negotiation by the `Accept` header (RFC 9110 §12.5.1): the media type of a GraphQL response, events, HTML. */

export type GraphMediaType = 'application/json' | 'application/graphql-response+json';

interface Range {
  readonly name: string;
  readonly weight: number;
  readonly position: number;
}

/** Plain JSON first: the contract uses it, and a wildcard selects it. */
const graphMediaTypes: readonly GraphMediaType[] = ['application/json', 'application/graphql-response+json'];

const eventStream = 'text/event-stream';

/** Undefined if the client accepts neither. */
export function acceptedMediaType(accept: string | undefined): GraphMediaType | undefined {
  if (!accept || accept === '*/*' || accept === 'application/json') return 'application/json';
  const ranges = parseAccept(accept);
  let best: { mediaType: GraphMediaType; range: Range } | undefined;
  for (const mediaType of graphMediaTypes) {
    const range = closestRange(ranges, mediaType);
    if (range && range.weight > 0 && (!best || isBetter(range, best.range))) best = { mediaType, range };
  }
  return best?.mediaType;
}

/** Requires the exact name, because a client that accepts anything expects a response that ends. */
export function acceptsEventStream(accept: string | undefined): boolean {
  if (!accept?.toLowerCase().includes(eventStream)) return false;
  const ranges = parseAccept(accept);
  return ranges.some(({ name, weight }) => name === eventStream && weight > 0);
}

/** Browsers name HTML when they open an address. A program that prefers JSON is not a browser. */
export function prefersHtml(accept = ''): boolean {
  const ranges = accept.toLowerCase().split(',').map(toRange);
  const html = ranges.find(({ name }) => name === 'text/html')?.weight ?? 0;
  return html > 0 && html >= (closestRange(ranges, 'application/json')?.weight ?? 0);
}

/** The most specific matching range decides. */
function closestRange(ranges: readonly Range[], mediaType: GraphMediaType): Range | undefined {
  for (const name of [mediaType, 'application/*', '*/*']) {
    const found = ranges.find((range) => range.name === name);
    if (found) return found;
  }
  return undefined;
}

/** With equal weights, a named type is better than a wildcard. Otherwise, the first one is better. */
function isBetter(a: Range, b: Range): boolean {
  if (a.weight !== b.weight) return a.weight > b.weight;
  const isNamed = ({ name }: Range) => !name.includes('*');
  return isNamed(a) === isNamed(b) ? a.position < b.position : isNamed(a);
}

function parseAccept(accept: string): Range[] {
  const ranges = accept.toLowerCase().split(',').map(toRange);
  return ranges.filter(({ charset }) => charset === undefined || isUtf8Charset(charset));
}

function toRange(text: string, position: number): Range & { charset: string | undefined } {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
  const valueOf = (key: string) =>
    parameters.find((parameter) => parameter.startsWith(`${key}=`))?.slice(key.length + 1);
  return { name, position, weight: weightOf(valueOf('q')), charset: valueOf('charset') };
}

/** The value of a charset parameter, in lower case. */
export function isUtf8Charset(charset: string): boolean {
  return /^"?utf-?8"?$/.test(charset);
}

function weightOf(quality: string | undefined): number {
  const weight = quality === undefined ? 1 : Number(quality);
  return weight >= 0 ? Math.min(weight, 1) : 0;
}
