/** Which of the two media types of GraphQL over HTTP a client would rather have (RFC 9110 §12.5.1). */

export type GraphMediaType = 'application/json' | 'application/graphql-response+json';

/** Undefined if the client takes neither. A wildcard means plain JSON, as the contract shows it. */
export function acceptedMediaType(accept: string | undefined): GraphMediaType | undefined {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return 'application/json';
  let best: { mediaType: GraphMediaType; weight: number } | undefined;
  for (const range of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    const mediaType = ranges.get(name);
    const charset = parameters.find((parameter) => parameter.startsWith('charset='));
    if (!mediaType || (charset && !/^charset="?utf-?8"?$/.test(charset))) continue;
    const weight = weightOf(parameters);
    if (weight > (best?.weight ?? 0)) best = { mediaType, weight };
  }
  return best?.mediaType;
}

const ranges = new Map<string, GraphMediaType>([
  ['application/graphql-response+json', 'application/graphql-response+json'],
  ['application/json', 'application/json'],
  ['application/*', 'application/json'],
  ['*/*', 'application/json'],
]);

function weightOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  const weight = given === undefined ? 1 : Number(given.slice(2));
  return Number.isNaN(weight) ? 0 : weight;
}
