/** `espalier login`, `logout` and `whoami`: the stored session for later commands. */

import { readCommandLineSettings } from '../config/command-line.ts';
import { UsageError } from '../config/start-error.ts';
import {
  apiCommand,
  clientFor,
  connectionSettings,
  defaultUrl,
  explainConnection,
  profileFile,
  untilSignal,
} from './api/connection.ts';
import type { Tokens } from '@espalier/client';
import type { ProfileFile, Profile } from './api/profile.ts';
import { command, json } from './command.ts';
import { ExitError, describeFailure, isClientError } from './failures.ts';
import { escapeControls, print, toMinute } from './terminal/output.ts';
import { askText, passwordOptions, readPassword, requireTerminal } from './terminal/prompts.ts';

/** A login does not wait longer for the logout of the session that it replaces. */
const maxLogoutMs = 3_000;

export const login = command({
  about: 'Log in to a server and store the session for later commands',
  options: {
    username: { value: 'name', short: 'u', about: 'The user name; without it, the command asks' },
    ...passwordOptions,
  },
  settings: connectionSettings,
  details: `Asks for missing values. Stores the session in a file that only you can read. Later commands use and extend this
session. The next login to the same server with the same profile ends it.

--url is the API root of the server: an http or https URL with its path, such as https://example.com/espalier.
Without --url, logs in to the server of the last login with this profile, or to ${defaultUrl} at the first login. Later commands do
not need --url, and fail if it names another server.

--profile is a name of your choice for the stored session: letters, digits, dots, dashes and underscores. Use one
profile for each server or user, and pass the same --profile to later commands.`,
  examples: [
    'espalier login --url https://example.com',
    'espalier login --url https://example.com -u robot --password-file /run/secrets/robot',
    'espalier login --profile staging --url https://staging.example.com',
  ],
  async run({ options, flags }) {
    const file = profileFile(flags);
    const before = await readLastLogin(file);
    const url = readCommandLineSettings(flags).url ?? urlOf(before, file);
    const { memoryStorage } = await import('@espalier/client');
    const storage = memoryStorage();
    const client = await clientFor(url, storage);
    let username: string;
    try {
      const isComplete = options.username !== undefined && (options.passwordStdin || options.passwordFile);
      if (process.stdin.isTTY && !isComplete) await untilSignal((signal) => requireServer(url, signal));
      username = options.username ?? (await askForName(before?.username));
      const password = await readPassword(options, { prompt: `Password of ${username} at ${url}` });
      await untilSignal(() => client.login({ username, password }));
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

/** Fails before any question is asked if there is no server. */
async function requireServer(url: string, signal: AbortSignal): Promise<void> {
  const tokens = { authToken: 'none', refreshToken: 'none', expiresAt: 0, lifetimeSeconds: 0 };
  const client = await clientFor(url, { read: () => tokens, write: () => undefined });
  try {
    await client.verify({ signal });
  } catch (error) {
    if (isClientError(error, 'UNREACHABLE') || isClientError(error, 'NOT_ESPALIER')) throw error;
  } finally {
    client.close();
  }
}

/** Logs out the replaced session. Otherwise, the session would stay valid until it expires. */
async function logOutReplaced(url: string, tokens: Tokens): Promise<void> {
  const client = await clientFor(url, { read: () => tokens, write: () => undefined }, { retrySeconds: 0 });
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
  settings: connectionSettings,
  details: `Deletes the stored session even if the server cannot be reached. The session then expires on the server. Keeps the server
URL and the user name as defaults for the next login.`,
  examples: ['espalier logout', 'espalier logout --profile staging'],
  async run({ flags }) {
    const file = profileFile(flags);
    const profile = await readLastLogin(file);
    if (profile === null) await file.removeTokens();
    if (!profile?.tokens) {
      await print('You are not logged in.');
      return;
    }
    const client = await clientFor(profile.url, file.storage());
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
    readonly user: { id: string; username: string; isAdministrator: boolean };
    readonly session: { id: string; createdAt: string; expiresAt: string };
  };
}

const query = `{ viewer { user { id username isAdministrator } session { id createdAt expiresAt } } }`;

export const whoami = apiCommand({
  about: 'Show the logged-in user and the server',
  options: { json },
  examples: ['espalier whoami', 'espalier whoami --json'],
  async run({ client, file, signal }) {
    const { viewer } = await client.query<Answer>(query, {}, { signal }).catch((error: unknown) => {
      // A token may outlive its session: after a logout elsewhere, or when a backup was restored.
      throw isClientError(error, 'NOT_FOUND') ? file.sessionEndedError() : error;
    });
    const { user, session } = viewer;
    return {
      data: { url: client.url, ...viewer },
      text: `${escapeControls(user.username)}${user.isAdministrator ? ' (administrator)' : ''} at ${client.url}
Logged in since ${toMinute(session.createdAt)} UTC. The session ends on ${toMinute(session.expiresAt)} UTC unless you use it.`,
    };
  },
});
