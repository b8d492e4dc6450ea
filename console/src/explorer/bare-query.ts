/**
 * Queries without passwords and tokens, for all places where they outlast the editor. A secret can come by any variable, as
 * a default, or after a comment: so where one is mentioned, no text that was given stays.
 */

/** Also in JSON that escapes its letters. */
export function mentionsSecret(text: string): boolean {
  const plain = text.replace(/\\+u([\da-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(parseInt(code, 16)),
  );
  return /password|token/i.test(plain);
}

/** Strings of a query, also one that has no end yet, and comments, in which anything can be quoted. */
const literals = /"""(?:\\"""|[^])*?(?:"""|$)|"(?:\\.|[^"\\\n\r])*(?:"|\\?(?=[\n\r]|$))|#[^\n\r]*/g;

/** The same with empty strings, if it mentions a secret. */
export function bareDocument(query: string): string {
  return mentionsSecret(query) ? withEmptyStrings(query) : query;
}

function withEmptyStrings(query: string): string {
  return query.replace(literals, (found) => {
    if (found.startsWith('#')) return found.replace(/".*/s, '').trimEnd();
    return found.startsWith('"""') ? '""""""' : '""';
  });
}

/** A query to be shown elsewhere: its variables keep their shape, with an ellipsis for each text. */
export function bareCall(query: string, variables: object): { document: string; variables: object } {
  if (!mentionsSecret(query) && !mentionsSecret(JSON.stringify(variables)))
    return { document: query, variables };
  const shown = JSON.stringify(variables, (_, value: unknown) => (typeof value === 'string' ? '…' : value));
  return { document: withEmptyStrings(query), variables: JSON.parse(shown) as object };
}

/** JSON that holds queries somewhere, each with what belongs to it beside it. */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return bareDocument(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  const entries = Object.entries(value);
  if (!('query' in value)) {
    return Object.fromEntries(
      entries.map(([key, of]) => [key, mentionsSecret(key) ? null : withoutSecrets(of)]),
    );
  }
  if (!mentionsSecret(JSON.stringify(value))) return value;
  // All that is not known to be harmless may be the query once more.
  const harmless = ['id', 'title', 'operationName', 'favorite', 'label'];
  return Object.fromEntries(
    entries.map(([key, of]) => {
      if (key === 'query') return [key, typeof of === 'string' ? withEmptyStrings(of) : null];
      if (key === 'variables') return [key, ''];
      return [key, harmless.includes(key) ? of : null];
    }),
  );
}
