/** The login through a browser for `espalier login --sso`: opens the provider's page, and waits for the one-time code. */

import { userInfo } from 'node:os';
import type { Client, ErrorCode } from '@espalier/client';
import { canOpenBrowser, readSshServer } from '../../config/command-line.ts';
import { ExitError, exitCodes, failure } from '../failures.ts';
import { escapeControls } from '../terminal/output.ts';
import { createProgress } from '../terminal/progress.ts';
import { LoopbackListener, type BrowserReturn } from './loopback-listener.ts';

/** Time to log in at the provider, with a second factor. */
const maxWaitMinutes = 5;

interface BrowserLoginOptions {
  readonly opensBrowser: boolean;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Aborted when the user has not logged in in time. */
  readonly timeout?: AbortSignal;
}

/** Starts a session of the client, and returns the name of its user. */
export async function logInWithBrowser(
  client: Client,
  { opensBrowser, signal, timeout = AbortSignal.timeout(maxWaitMinutes * 60_000) }: BrowserLoginOptions,
): Promise<string> {
  const { singleSignOn } = await client.loginMethods({ signal });
  if (!singleSignOn) throw notOfferedError(client.url);
  const listener = await LoopbackListener.start();
  try {
    const { url, verifier } = await client.startSingleSignOn({ redirectUri: listener.redirectUri });
    await showAddress(url, { name: singleSignOn.name, port: listener.port, opensBrowser });
    const { value, answer } = await waitForBrowser(listener, signal, timeout);
    let hasLoggedIn = false;
    try {
      await client.completeSingleSignOn({ code: readCode(value), verifier }, { signal });
      const username = await readUsername(client, signal);
      hasLoggedIn = true;
      return username;
    } catch (error) {
      // A session without its user name is not stored.
      await client.logout().catch(() => undefined);
      throw error;
    } finally {
      await answer(hasLoggedIn);
    }
  } finally {
    await listener.close();
  }
}

function notOfferedError(url: string): ExitError {
  return failure(
    'BAD_INPUT',
    `The server at ${url} does not offer single sign-on. Run 'espalier login' to log in with a password.`,
  );
}

interface AddressOptions {
  readonly name: string;
  readonly port: number;
  readonly opensBrowser: boolean;
}

/** Always prints the address, because a browser may open with the wrong profile, or not at all. */
async function showAddress(url: string, { name, port, opensBrowser }: AddressOptions): Promise<void> {
  const opens = opensBrowser && canOpenBrowser();
  const sshServer = readSshServer();
  console.error(
    `Log in with ${escapeControls(name)} in your browser${opens ? ', which opens now' : ''}:\n\n  ${url}\n`,
  );
  if (sshServer !== undefined && !opens) {
    const forward = `ssh -N -L ${port}:127.0.0.1:${port} ${userInfo().username}@${sshServer}`;
    console.error(
      `This terminal is on another machine. First run this command on your own computer, and stop it after the login:\n\n  ${forward}\n`,
    );
  }
  if (!opens) return;
  try {
    const { default: open } = await import('open');
    await open(url);
  } catch {
    console.error('espalier: Cannot open a browser. Open the address yourself.');
  }
}

async function waitForBrowser(listener: LoopbackListener, signal: AbortSignal, timeout: AbortSignal) {
  const progress = createProgress();
  progress.wait('Waiting for the browser (Ctrl-C cancels)');
  try {
    return await listener.receive(AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (signal.aborted || !timeout.aborted) throw error;
    throw new ExitError(
      exitCodes.login.code,
      `The browser did not return within ${maxWaitMinutes} minutes. Run 'espalier login --sso' again.`,
      'TIMEOUT',
    );
  } finally {
    progress.end();
  }
}

function readCode(value: BrowserReturn): string {
  if ('code' in value) return value.code;
  const { error, about } = value;
  const text = about || `The single sign-on failed with the error ${error}. Try again.`;
  throw failure(escapeControls(error) as ErrorCode, text);
}

async function readUsername(client: Client, signal: AbortSignal): Promise<string> {
  type Data = { viewer: { user: { username: string } } };
  const { viewer } = await client.query<Data>('{ viewer { user { username } } }', {}, { signal });
  return viewer.user.username;
}
