/** The address of the API root, judged before anything is sent to it. */

import { EspalierError } from './errors.ts';

/** Without a slash at its end. In a browser it may be relative to the page. */
export function apiRoot(given: string | URL): string {
  const page = (globalThis as { location?: { href: string } }).location?.href;
  const url = URL.canParse(String(given), page) ? new URL(given, page) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new EspalierError('BAD_INPUT', 'The url of a client is that of the API root: https://example.com');
  }
  if (url.username || url.password) {
    throw new EspalierError('BAD_INPUT', 'The url of a client holds no user name and no password.');
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}
