/** A database's URL as it may be shown: without what is a password or, in a URL that is not well written, may be one. */

/** Whether this text of a URL names a password; one that cannot be read counts if it may. */
export function holdsPassword(url: string): boolean {
  if (!URL.canParse(url)) return withoutPassword(url) !== url;
  const { password, searchParams } = new URL(url);
  return password !== '' || searchParams.has('password');
}

export function withoutPassword(url: string): string {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*:\/{1,2})?(.*)$/is.exec(url) ?? [];
  // The other way to tell PostgreSQL where to go: host=… password=…
  if (!scheme && /(password|passwd|pwd|secret)\s*=/i.test(url)) return '…';
  const signs = rest.search(/[?#]/);
  const place = signs < 0 ? rest : rest.slice(0, signs);
  // Such a sign may be of the password: then nobody knows where it ends.
  if (signs >= 0 && rest.includes('@', signs)) return `${scheme ?? ''}…`;
  const at = place.lastIndexOf('@');
  if (at >= 0) return `${scheme ?? ''}…${place.slice(at)}`;
  if (!scheme || /^sqlite:/i.test(scheme)) return url;
  // Without an @ it is host and port, or else name and password.
  return /:(?!\d{1,5}(\/|$))/.test(place.replace(/^\[[\da-f:.]+\]/i, '')) ? `${scheme}…` : scheme + place;
}
