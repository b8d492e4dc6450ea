/** The location below the console's address, and links that change it without reloading the page. */

import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from 'react';
import { consoleBase } from './console-address.ts';

export interface PageLocation {
  /** Parts of the path below the console: `['folders', '<id>']`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  /** The path and query that `navigate` accepts. */
  readonly path: string;
}

const navigation = new EventTarget();
let current = readLocation();

function readLocation(): PageLocation {
  const { pathname, search } = location;
  const path = pathname.startsWith(consoleBase) ? pathname.slice(consoleBase.length) : '';
  const parts = path.split('/').filter(Boolean).map(decode);
  return { parts, query: new URLSearchParams(search), path: `/${path}${search}` };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function update(): void {
  current = readLocation();
  navigation.dispatchEvent(new Event('move'));
}

addEventListener('popstate', update);

function subscribe(listener: () => void): () => void {
  navigation.addEventListener('move', listener);
  return () => navigation.removeEventListener('move', listener);
}

export function useLocation(): PageLocation {
  return useSyncExternalStore(subscribe, () => current);
}

/** Returns the address of a path below the console, for example `/folders/<id>`. */
export function toAddress(path: string): string {
  return consoleBase + path.replace(/^\//, '');
}

/** The explorer is a separate page, because its editor needs a less strict Content Security Policy. */
function needsPageLoad(path: string): boolean {
  const isExplorer = (pathname: string) => /^\/explorer\b/.test(pathname);
  return isExplorer(path) !== isExplorer(current.path);
}

export function navigate(path: string, { replace = false } = {}): void {
  if (path === current.path) return;
  const address = toAddress(path);
  if (needsPageLoad(path)) {
    if (replace) location.replace(address);
    else location.assign(address);
    return;
  }
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  update();
}

/** Changes query parameters without a new history entry. Null removes a parameter. */
export function setQuery(changes: Readonly<Record<string, string | null>>): void {
  const query = new URLSearchParams(current.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const search = query.size > 0 ? `?${query}` : '';
  navigate(current.path.replace(/\?.*$/, '') + search, { replace: true });
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string };

export function Link({ to, onClick, ...others }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    navigate(to);
  };
  return <a {...others} href={toAddress(to)} onClick={follow} />;
}
