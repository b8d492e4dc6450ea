/**
 * Single sign-on in this tab. The tab keeps the verifier while the browser is at the provider. When it returns, the one-time code
 * is removed from the address and the history before anything else runs.
 */

import { EspalierError, type ErrorCode } from '@espalier/client';
import { apiRoot, consoleBase } from '../console-address.ts';
import { client } from './client.ts';

/** The page to which the server sends the browser after the sign-in at the provider. */
export const signInSegment = 'sign-in';

interface SingleSignOnCode {
  readonly code: string;
  readonly verifier: string;
}

/** The signed-in user to whom an account of the provider is to be linked, or null for a sign-in. */
type LinkedUser = string | null;

/** What the tab keeps while the browser is at the provider. */
interface Departure {
  readonly verifier: string;
  readonly userId: LinkedUser;
}

interface Return {
  readonly userId: LinkedUser;
  readonly result: SingleSignOnCode | EspalierError;
}

const departureKey = `espalier:single-sign-on:${apiRoot}`;
const returnParameter = 'return_to';
const maxPathLength = 2_000;
const signInPath = consoleBase + signInSegment;
const notStartedText =
  'This sign-in was not started in this tab, or it is already finished. Start again from this page.';

let current: Return | null = readReturn();

/** Leaves the console for the provider. `userId` is the user to whom the account is linked, or null for a sign-in. */
export async function leaveForProvider(userId: LinkedUser, returnTo: string): Promise<void> {
  const { url, verifier } = await client.startSingleSignOn({ returnTo: toReturnPath(returnTo) });
  sessionStorage.setItem(departureKey, JSON.stringify({ verifier, userId } satisfies Departure));
  location.assign(url);
}

/** Returns, once, the result of the sign-in that brought the browser to this page. */
export function takeSignIn(): SingleSignOnCode | EspalierError | null {
  return takeReturn(null);
}

/** Returns, once, the account of the provider that this user wanted to link. */
export function takeLink(userId: string): SingleSignOnCode | EspalierError | null {
  return takeReturn(userId);
}

function takeReturn(userId: LinkedUser) {
  if (current?.userId !== userId) return null;
  const { result } = current;
  current = null;
  return result;
}

/** The path of the console that the user requested before the sign-in. It stays in the address, so a reload keeps it. */
export function readRequestedPath(): string | null {
  if (location.pathname !== signInPath) return null;
  return toConsolePath(new URLSearchParams(location.search).get(returnParameter));
}

/** The server refuses a path with a backslash, and a long one. */
function toReturnPath(path: string): string | undefined {
  const encoded = path.replaceAll('\\', '%5C');
  return encoded.length <= maxPathLength ? encoded : undefined;
}

function readReturn(): Return | null {
  if (location.pathname !== signInPath) return null;
  const query = new URLSearchParams(location.search);
  const requestedPath = readRequestedPath();
  const search = requestedPath === null ? '' : `?${returnParameter}=${encodeURIComponent(requestedPath)}`;
  history.replaceState(null, '', signInPath + search);
  const code = query.get('sso_code');
  const error = query.get('error');
  if (code === null && error === null) return null;
  const departure = takeDeparture();
  // Another page can forge a return. Its text must not appear, and its code must not sign this browser in to the account of an attacker.
  if (!departure) return { userId: null, result: new EspalierError('BAD_INPUT', notStartedText) };
  const { verifier, userId } = departure;
  if (code !== null) return { userId, result: { code, verifier } };
  const text = query.get('error_description') ?? 'The single sign-on failed. Try again.';
  return { userId, result: new EspalierError(error as ErrorCode, text) };
}

function takeDeparture(): Departure | null {
  try {
    const departure = JSON.parse(sessionStorage.getItem(departureKey) ?? 'null') as Departure | null;
    sessionStorage.removeItem(departureKey);
    return departure;
  } catch {
    // Without storage, no sign-in can have started.
    return null;
  }
}

/** Returns null for the address of another site, and for an address outside of the console. */
function toConsolePath(path: string | null): string | null {
  if (path === null || !/^\/(?![/\\])/.test(path)) return null;
  const { origin, pathname, search } = new URL(consoleBase + path.slice(1), location.origin);
  const isInside = origin === location.origin && pathname.startsWith(consoleBase) && pathname !== signInPath;
  return isInside ? `/${pathname.slice(consoleBase.length)}${search}` : null;
}
