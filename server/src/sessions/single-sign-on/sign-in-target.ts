/** Where a browser may go after a sign-in: to the console of this server, or to a program on the same machine (RFC 8252 §7.3). */

import { Refusal } from '../../refusal.ts';
import type { SignInTarget } from './attempts.ts';

export interface RequestedTarget {
  readonly challenge?: unknown;
  readonly redirectUri?: unknown;
  readonly returnTo?: unknown;
}

const maxLength = 2_000;
const loopbackHosts = ['127.0.0.1', '[::1]'];
/** The page of the console that receives the one-time code. */
const signInPage = '/console/sign-in';

/** Refuses everything that could send the code of a user elsewhere. */
export function readTarget({ challenge, redirectUri, returnTo }: RequestedTarget): SignInTarget {
  if (typeof challenge !== 'string' || !/^[\w-]{43}$/.test(challenge)) {
    throw new Refusal(
      'BAD_INPUT',
      'The parameter challenge must be the base64url of a SHA-256: 43 characters.',
    );
  }
  return {
    challenge,
    redirectUri: redirectUri === undefined ? null : readLoopbackUrl(redirectUri),
    returnTo: returnTo === undefined ? null : readPath(returnTo),
  };
}

function readLoopbackUrl(input: unknown): string {
  if (typeof input === 'string' && input.length <= maxLength && URL.canParse(input)) {
    const { href, protocol, hostname, port, username, password, hash } = new URL(input);
    const isLoopback = protocol === 'http:' && loopbackHosts.includes(hostname) && port !== '';
    if (isLoopback && !(username || password || hash)) return href;
  }
  throw new Refusal(
    'BAD_INPUT',
    'The parameter redirect_uri must be http://127.0.0.1:<port>/… or http://[::1]:<port>/…. Leave it out for the console.',
  );
}

/** A second slash or a backslash would begin the name of another host. */
function readPath(input: unknown): string {
  const isPath =
    typeof input === 'string' &&
    input.length <= maxLength &&
    /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(input) &&
    input.isWellFormed();
  if (isPath) return input;
  throw new Refusal(
    'BAD_INPUT',
    'The parameter return_to must be a path of the console that begins with one slash.',
  );
}

/** The addresses to which browsers return after a sign-in. */
export class ReturnAddresses {
  /** Undefined if this server has no console. */
  readonly #console: string | undefined;

  constructor({ publicUrl, hasConsole }: { readonly publicUrl: string; readonly hasConsole: boolean }) {
    this.#console = hasConsole ? publicUrl + signInPage : undefined;
  }

  /** Refuses a target that this server does not have. */
  require({ redirectUri }: SignInTarget): void {
    if (redirectUri !== null || this.#console !== undefined) return;
    throw new Refusal('BAD_INPUT', 'This server has no console. Set the parameter redirect_uri.');
  }

  forCode({ redirectUri, returnTo }: SignInTarget, code: string): string {
    return redirectUri === null
      ? withQuery(this.#console!, { sso_code: code, return_to: returnTo })
      : withQuery(redirectUri, { code });
  }

  /** Without a target, the sign-in is unknown, and only the console can show the error. */
  forError(target: SignInTarget | undefined, { code, message }: Refusal): string | undefined {
    const address = target?.redirectUri ?? this.#console;
    const returnTo = target?.redirectUri ? null : target?.returnTo;
    return address && withQuery(address, { error: code, error_description: message, return_to: returnTo });
  }
}

function withQuery(address: string, parameters: Readonly<Record<string, string | null | undefined>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value === 'string') url.searchParams.set(name, value);
  }
  return url.href;
}
