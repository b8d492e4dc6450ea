/**
 * Removes passwords, tokens and API keys from queries that are stored or copied. A secret can be in any variable, default value or
 * comment, so a query that mentions one loses all its strings and comments.
 */

/** Also detects names whose letters JSON escapes. */
export function mentionsSecret(text: string): boolean {
  const plain = text.replace(/\\+u([\da-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(parseInt(code, 16)),
  );
  return /password|token|esp_/i.test(plain);
}

/** Strings of a query, including an unterminated one, and comments, which can quote anything. */
const literals = /"""(?:\\"""|[^])*?(?:"""|$)|"(?:\\.|[^"\\\n\r])*(?:"|\\?(?=[\n\r]|$))|#[^\n\r]*/g;

/** Empties all strings if the document mentions a secret. */
export function redactDocument(query: string): string {
  return mentionsSecret(query) ? withEmptyStrings(query) : query;
}

function withEmptyStrings(query: string): string {
  return query.replace(literals, (literal) => {
    if (literal.startsWith('#')) return literal.replace(/".*/s, '').trimEnd();
    return literal.startsWith('"""') ? '""""""' : '""';
  });
}

/** Redacts a query for display: its variables keep their shape, with an ellipsis for each string. */
export function redactCall(query: string, variables: object): { document: string; variables: object } {
  if (!mentionsSecret(query) && !mentionsSecret(JSON.stringify(variables)))
    return { document: query, variables };
  const redacted = JSON.stringify(variables, (_, value: unknown) =>
    typeof value === 'string' ? '…' : value,
  );
  return { document: withEmptyStrings(query), variables: JSON.parse(redacted) as object };
}

/** Redacts JSON that contains queries, each in an object with its variables. */
export function redactJson(value: unknown): unknown {
  if (typeof value === 'string') return redactDocument(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(redactJson);
  const entries = Object.entries(value);
  if (!('query' in value)) {
    return Object.fromEntries(entries.map(([key, of]) => [key, mentionsSecret(key) ? null : redactJson(of)]));
  }
  if (!mentionsSecret(JSON.stringify(value))) return value;
  // Every other property may contain the query again.
  const safeKeys = ['id', 'title', 'operationName', 'favorite', 'label'];
  return Object.fromEntries(
    entries.map(([key, of]) => {
      if (key === 'query') return [key, typeof of === 'string' ? withEmptyStrings(of) : null];
      if (key === 'variables') return [key, ''];
      return [key, safeKeys.includes(key) ? of : null];
    }),
  );
}
