/** Removes passwords from URLs, for messages and logs. */

/** Whether the URL contains a password. An invalid URL counts if it might contain one. */
export function containsPassword(url: string): boolean {
  if (!URL.canParse(url)) return redactPassword(url) !== url;
  const { password, searchParams } = new URL(url);
  return password !== '' || searchParams.has('password');
}

/** Removes the password. In an invalid URL, removes everything that might be a password. */
export function redactPassword(url: string): string {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*:\/{1,2})?(.*)$/is.exec(url) ?? [];
  // The keyword form of a PostgreSQL connection string: host=… password=…
  if (!scheme && /(password|passwd|pwd|secret)\s*=/i.test(url)) return '…';
  const delimiter = rest.search(/[?#]/);
  const authority = delimiter < 0 ? rest : rest.slice(0, delimiter);
  // The delimiter may belong to the password, so the end of the password is unknown.
  if (delimiter >= 0 && rest.includes('@', delimiter)) return `${scheme ?? ''}…`;
  const at = authority.lastIndexOf('@');
  if (at >= 0) return `${scheme ?? ''}…${authority.slice(at)}`;
  if (!scheme || /^sqlite:/i.test(scheme)) return url;
  // Without an @, the text is host and port, or a user name and a password.
  return /:(?!\d{1,5}(\/|$))/.test(authority.replace(/^\[[\da-f:.]+\]/i, ''))
    ? `${scheme}…`
    : scheme + authority;
}
