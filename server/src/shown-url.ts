/** A database's URL as it may be shown: without the user's password, and without what may be another secret. */

export function withoutPassword(url: string): string {
  return url.replace(/\/\/.*@/s, '//…@').replace(/^(postgres(?:ql)?:[^?]*)\?.*$/s, '$1');
}
