/** Which of the two media types of GraphQL over HTTP a client would rather have, and whether it takes events (RFC 9110 §12.5.1). */

export type GraphMediaType = 'application/json' | 'application/graphql-response+json';

interface Range {
  readonly name: string;
  readonly weight: number;
  readonly place: number;
}

/** Plain JSON first, as the contract shows it: a wildcard means that. */
const offered: readonly GraphMediaType[] = ['application/json', 'application/graphql-response+json'];

const eventStream = 'text/event-stream';

/** Undefined if the client takes neither. */
export function acceptedMediaType(accept: string | undefined): GraphMediaType | undefined {
  if (!accept || accept === '*/*' || accept === 'application/json') return 'application/json';
  const ranges = accept.toLowerCase().split(',').map(toRange).filter(isUtf8Range);
  let best: { mediaType: GraphMediaType; range: Range } | undefined;
  for (const mediaType of offered) {
    const range = closest(ranges, mediaType);
    if (range && range.weight > 0 && (!best || isBetter(range, best.range))) best = { mediaType, range };
  }
  return best?.mediaType;
}

/** Only by name: whoever takes anything waits for an answer that ends. */
export function acceptsEventStream(accept: string | undefined): boolean {
  if (!accept?.toLowerCase().includes(eventStream)) return false;
  const ranges = accept.toLowerCase().split(',').map(toRange).filter(isUtf8Range);
  return ranges.some(({ name, weight }) => name === eventStream && weight > 0);
}

/** Browsers name HTML when they open an address. A program that names JSON and prefers it is none. */
export function prefersHtml(accept = ''): boolean {
  const ranges = accept.toLowerCase().split(',').map(toRange);
  const html = ranges.find(({ name }) => name === 'text/html')?.weight ?? 0;
  return html > 0 && html >= (closest(ranges, 'application/json')?.weight ?? 0);
}

/** The most specific range that fits decides. */
function closest(ranges: readonly Range[], mediaType: GraphMediaType): Range | undefined {
  for (const name of [mediaType, 'application/*', '*/*']) {
    const found = ranges.find((range) => range.name === name);
    if (found) return found;
  }
  return undefined;
}

/** Of equal weight, what is named beats what a wildcard covers, and then what stands first. */
function isBetter(a: Range, b: Range): boolean {
  if (a.weight !== b.weight) return a.weight > b.weight;
  const isNamed = ({ name }: Range) => !name.includes('*');
  return isNamed(a) === isNamed(b) ? a.place < b.place : isNamed(a);
}

function toRange(text: string, place: number): Range & { charset: string | undefined } {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
  const valueOf = (key: string) =>
    parameters.find((parameter) => parameter.startsWith(`${key}=`))?.slice(key.length + 1);
  return { name, place, weight: weightOf(valueOf('q')), charset: valueOf('charset') };
}

function isUtf8Range({ charset }: { charset: string | undefined }): boolean {
  return charset === undefined || isUtf8Charset(charset);
}

/** The value of a charset parameter, in lower case. */
export function isUtf8Charset(charset: string): boolean {
  return /^"?utf-?8"?$/.test(charset);
}

function weightOf(given: string | undefined): number {
  const weight = given === undefined ? 1 : Number(given);
  return weight >= 0 ? Math.min(weight, 1) : 0;
}
