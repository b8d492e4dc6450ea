/** A text of the API, in which backticks are around what is code. */

export function CodeText({ of }: { of: string }) {
  return of
    .split('`')
    .map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : <span key={at}>{part}</span>));
}
