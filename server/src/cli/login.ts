/** `espalier login`, `logout` and `whoami`: the stored session for later commands. */

import { readCommandLineSettings } from '../config/command-line.ts';
import { UsageError } from '../config/start-error.ts';
import {
  apiCommand,
  clientFor,
  defaultUrl,
  explainConnection,
  loginSettings,
  profileFile,
  requireNoApiKey,
  untilSignal,
} from './api/connection.ts';
import type { Client, Tokens, TokenStorage } from '@espalier/client';
import { logInWithCode } from './api/second-factor.ts';
import type { ProfileFile, Profile } from './api/profile.ts';
import { apiKeyFields, describeApiKey, type ApiKeyDetails } from './api/api-key-fields.ts';
import { describeRoles } from './api/user-roles.ts';
import { command, json } from './command.ts';
import { ExitError, describeFailure, failure, isClientError } from './failures.ts';
import { escapeControls, print, toMinute } from './terminal/output.ts';
import { askText, passwordOptions, readPassword, requireTerminal } from './terminal/prompts.ts';

/** A login does not wait longer for the logout of the session that it replaces. */
const maxLogoutMs = 3_000;

export const login = command({
  about: 'Log in to a server and store the session for later commands',
  options: {
    username: { value: 'name', short: 'u', about: 'The user name; without it, the command asks' },
    ...passwordOptions,
    codeFile: {
      value: 'path',
      about: 'Read the code of your second factor from this file; without it, the command asks',
      completions: 'file',
    },
    sso: {
      about: 'Log in with single sign-on, in a browser',
      conflicts: ['username', 'passwordStdin', 'passwordFile', 'codeFile'],
    },
    noBrowser: { about: 'With --sso: print the address, and do not open a browser' },
  },
  settings: loginSettings,
  details: `Asks for missing values. Stores the session in a file that only you can read. Later commands use and extend this
session. The next login to the same server with the same profile ends it.

--url is the API root of the server: an http or https URL with its path, such as https://example.com/espalier.
Without --url, logs in to the server of the last login with this profile, or to ${defaultUrl} at the first login. Later commands do
not need --url, and fail if it names another server.

If you have a second factor, asks for a code of your authenticator app or a recovery code. If the server requires a second factor
and you have none, displays the QR code for an authenticator app, asks for its first code, and prints your recovery codes.

--sso prints the address of the login page and opens it in your browser. The browser then returns to a port of this machine on
127.0.0.1, and the command exchanges the one-time code that it brings. Over SSH, the command prints how to forward this port.

--profile is a name of your choice for the stored session: letters, digits, dots, dashes and underscores. Use one
profile for each server or user, and pass the same --profile to later commands.`,
  examples: [
    'espalier login --url https://example.com',
    'espalier login --url https://example.com -u anna --password-file /run/secrets/anna',
    'espalier login --profile staging --url https://staging.example.com',
    'espalier login --sso --url https://example.com',
  ],
  async run({ options, flags }) {
    requireNoApiKey(flags, 'To log in, unset it first.');
    if (options.noBrowser && !options.sso) throw new UsageError('--no-browser needs --sso.');
    const file = profileFile(flags);
    const before = await readLastLogin(file);
    const url = readCommandLineSettings(flags).url ?? urlOf(before, file);
    const { memoryStorage } = await import('@espalier/client');
    const storage = memoryStorage();
    const client = await clientFor(url, { storage });
    let username: string;
    try {
      username = options.sso
        ? await logInWithSso(client, options)
        : await logInWithPassword(client, options, before?.username);
      const tokens = (await storage.read())!;
      // A session that cannot be stored is useless.
      const replaced = await file.replace({ url, username, tokens }).catch(async (error: unknown) => {
        await client.logout().catch(() => undefined);
        throw error;
      });
      if (replaced?.url === url && replaced.tokens) await logOutReplaced(url, replaced.tokens);
    } catch (error) {
      throw explainConnection(url, error);
    } finally {
      client.close();
    }
    await print(`Logged in as ${escapeControls(username)} at ${url}.`);
  },
});

interface LoginOptions {
  readonly username: string | undefined;
  readonly passwordStdin: boolean;
  readonly passwordFile: string | undefined;
  readonly codeFile: string | undefined;
  readonly noBrowser: boolean;
}

/** Returns the name of the user. */
async function logInWithPassword(
  client: Client,
  options: LoginOptions,
  lastUsername: string | undefined,
): Promise<string> {
  const { url } = client;
  const isComplete = options.username !== undefined && (options.passwordStdin || options.passwordFile);
  if (process.stdin.isTTY && !isComplete) await untilSignal((signal) => requirePasswordLogin(client, signal));
  const username = options.username ?? (await askForName(lastUsername));
  const password = await readPassword(options, { prompt: `Password of ${username} at ${url}` });
  const { codeFile } = options;
  await untilSignal((signal) => logInWithCode(client, { username, password }, { codeFile, signal }));
  return username;
}

/** Returns the name of the user. */
async function logInWithSso(client: Client, { noBrowser }: LoginOptions): Promise<string> {
  const { logInWithBrowser } = await import('./api/single-sign-on.ts');
  return untilSignal((signal) => logInWithBrowser(client, { opensBrowser: !noBrowser, signal }));
}

function storageOf(tokens: Tokens): TokenStorage {
  return { read: () => tokens, write: () => undefined };
}

/** Fails before any question is asked if there is no server, or if it accepts no passwords. */
async function requirePasswordLogin(client: Client, signal: AbortSignal): Promise<void> {
  const { password, singleSignOn } = await client.loginMethods({ signal });
  if (password) return;
  const remedy = singleSignOn
    ? `Run 'espalier login --sso' to log in with ${singleSignOn.name}.`
    : 'Use an API key, or log in with a passkey in the console.';
  throw failure('FORBIDDEN', `The server at ${client.url} accepts no passwords. ${remedy}`);
}

/** Logs out the replaced session. Otherwise, the session would stay valid until it expires. */
async function logOutReplaced(url: string, tokens: Tokens): Promise<void> {
  const client = await clientFor(url, { storage: storageOf(tokens) }, { retrySeconds: 0 });
  try {
    await client.logout({ signal: AbortSignal.timeout(maxLogoutMs) });
  } catch (error) {
    if (isClientError(error) && error.status !== undefined && error.status < 500) return;
    console.error('espalier: Cannot log out the previous session. It will expire on the server.');
  } finally {
    client.close();
  }
}

/** Returns null if the file is damaged. The login replaces it. */
async function readLastLogin(file: ProfileFile): Promise<Profile | undefined | null> {
  try {
    return await file.read();
  } catch (error) {
    if (error instanceof ExitError) return null;
    throw error;
  }
}

/** A password must not go to the wrong server just because the stored session is damaged. */
function urlOf(before: Profile | undefined | null, file: ProfileFile): string {
  if (before !== null) return before?.url ?? defaultUrl;
  throw new UsageError(
    `The file ${file.path} is damaged, so the server of the last login is unknown. Specify the server with --url.`,
  );
}

async function askForName(before: string | undefined): Promise<string> {
  requireTerminal('the user name', '--username <name>');
  return askText('User name', before);
}

export const logout = command({
  about: 'Log out and delete the stored session',
  settings: loginSettings,
  details: `Deletes the stored session even if the server cannot be reached. The session then expires on the server. Keeps the server
URL and the user name as defaults for the next login.`,
  examples: ['espalier logout', 'espalier logout --profile staging'],
  async run({ flags }) {
    requireNoApiKey(
      flags,
      "To log out, unset it first. To end the access of the key, run 'espalier key revoke <id>'.",
    );
    const file = profileFile(flags);
    const profile = await readLastLogin(file);
    if (profile === null) await file.removeTokens();
    if (!profile?.tokens) {
      await print('You are not logged in.');
      return;
    }
    const client = await clientFor(profile.url, { storage: file.storage() });
    try {
      await untilSignal(() => client.logout());
    } catch (error) {
      if (!isClientError(error)) throw error;
      const { exitCode, message, code } = describeFailure(error);
      const text = `${message} The stored session was deleted. It will expire on the server.`;
      throw new ExitError(exitCode, text, code);
    } finally {
      client.close();
      await file.removeTokens();
    }
    await print(`Logged out ${escapeControls(profile.username)} at ${profile.url}.`);
  },
});

interface Answer {
  readonly viewer: {
    readonly user: { id: string; username: string; kind: 'PERSON' | 'SERVICE'; isAdministrator?: boolean };
    readonly session: { id: string; createdAt: string; expiresAt: string } | null;
    readonly apiKey: ApiKeyDetails | null;
  };
}

/** An API key for one folder may not read whether its user is an administrator. */
const query = `query ($hasLogin: Boolean!) { viewer {
  user { id username kind isAdministrator @include(if: $hasLogin) }
  session { id createdAt expiresAt }
  apiKey { ${apiKeyFields} }
} }`;

export const whoami = apiCommand({
  about: 'Show the logged-in user or the API key, and the server',
  options: { json },
  examples: ['espalier whoami', 'espalier whoami --json'],
  async run({ client, hasApiKey, file, signal }) {
    const { viewer } = await client
      .query<Answer>(query, { hasLogin: !hasApiKey }, { signal })
      .catch((error: unknown) => {
        // A token may outlive its session: after a logout elsewhere, or when a backup was restored.
        throw isClientError(error, 'NOT_FOUND') ? file.sessionEndedError() : error;
      });
    return { data: { url: client.url, ...viewer }, text: formatViewer(client.url, viewer) };
  },
});

function formatViewer(url: string, { user, session, apiKey }: Answer['viewer']): string {
  const roles = describeRoles(user);
  const name = `${escapeControls(user.username)}${roles && ` (${roles})`} at ${url}`;
  if (apiKey) return `${name}\n${describeApiKey(apiKey)}`;
  if (!session) return name;
  return `${name}
Logged in since ${toMinute(session.createdAt)} UTC. The session ends on ${toMinute(session.expiresAt)} UTC unless you use it.`;
}
