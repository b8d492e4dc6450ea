/** Where the page is: the address below the console, and links that change it without loading the page anew. */

import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from 'react';
import { consoleBase } from './console-address.ts';

export interface Place {
  /** Parts of the path below the console: `['folders', '<id>']`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  /** As `navigate` takes it. */
  readonly path: string;
}

const moved = new EventTarget();
let place = readPlace();

function readPlace(): Place {
  const { pathname, search } = location;
  const path = pathname.startsWith(consoleBase) ? pathname.slice(consoleBase.length) : '';
  const parts = path.split('/').filter(Boolean).map(decoded);
  return { parts, query: new URLSearchParams(search), path: `/${path}${search}` };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function update(): void {
  place = readPlace();
  moved.dispatchEvent(new Event('move'));
}

addEventListener('popstate', update);

function subscribe(listener: () => void): () => void {
  moved.addEventListener('move', listener);
  return () => moved.removeEventListener('move', listener);
}

export function usePlace(): Place {
  return useSyncExternalStore(subscribe, () => place);
}

/** The address of a path below the console, such as `/folders/<id>`. */
export function addressOf(path: string): string {
  return consoleBase + path.replace(/^\//, '');
}

/**
 * The explorer is a page of its own, since its editor needs a looser policy: into it and out of it, the page is loaded
 * anew.
 */
function needsLoad(path: string): boolean {
  const isExplorer = (of: string) => /^\/explorer\b/.test(of);
  return isExplorer(path) !== isExplorer(place.path);
}

export function navigate(path: string, { replace = false } = {}): void {
  if (path === place.path) return;
  const address = addressOf(path);
  if (needsLoad(path)) {
    if (replace) location.replace(address);
    else location.assign(address);
    return;
  }
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  update();
}

/** Changes a part of the address's query, without a step in the history; null takes it away. */
export function setQuery(changes: Readonly<Record<string, string | null>>): void {
  const query = new URLSearchParams(place.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const search = query.size > 0 ? `?${query}` : '';
  navigate(place.path.replace(/\?.*$/, '') + search, { replace: true });
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
  return <a {...others} href={addressOf(to)} onClick={follow} />;
}
