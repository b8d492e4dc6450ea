/** Connects commands to a server, with the session that `espalier login` stored. */

import { constants } from 'node:os';
import { createClient, EspalierError, type Client, type TokenStorage } from '@espalier/client';
import { systemClock } from '../../clock.ts';
import { readCommandLineSettings } from '../../config/config.ts';
import { commandLineSettings } from '../../config/server-settings.ts';
import type { Setting } from '../../config/setting.ts';
import type { CommandInput } from '../command.ts';
import { ExitError } from '../failures.ts';
import { ProfileFile, type Profile } from './profile.ts';
import { version } from '../version.ts';

/** The settings of every command that goes through the API. */
export const connectionSettings: readonly Setting<unknown>[] = Object.values(commandLineSettings);

export const defaultUrl = 'http://127.0.0.1:8080';
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Connection {
  readonly client: Client;
  readonly profile: Profile;
  readonly file: ProfileFile;
  /** Aborted by Ctrl-C. Pass it to long calls. */
  readonly signal: AbortSignal;
}

export interface ConnectionOptions {
  /** Replaces the `fetch` of the client, for example to report progress. */
  readonly fetch?: typeof fetch;
  /** How long to retry while the server cannot be reached. */
  readonly retrySeconds?: number;
  /** How long the work may continue after a signal. A second signal ends it at once. */
  readonly stopSeconds?: number;
}

/** Runs the work with the session of the profile, and then closes the connection. */
export async function withConnection<T>(
  { flags }: Pick<CommandInput, 'flags'>,
  work: (connection: Connection) => Promise<T>,
  options: ConnectionOptions = {},
): Promise<T> {
  const file = profileFile(flags);
  const { url } = readCommandLineSettings(flags);
  const profile = await file.read();
  if (!profile) throw new EspalierError('LOGGED_OUT', 'You are not logged in.');
  if (url !== undefined && url !== profile.url) {
    throw new EspalierError('LOGGED_OUT', `The stored session is for ${profile.url}, not for ${url}.`);
  }
  if (await file.close()) {
    console.error(`espalier: Other users could read your session in ${file.path}. Only you can read it now.`);
  }
  const client = clientFor(profile.url, file.storage(), options);
  try {
    return await untilSignal((signal) => work({ client, profile, file, signal }), options);
  } catch (error) {
    throw isOfAnotherVersion(error) ? anotherVersion(client.url, error) : error;
  } finally {
    client.close();
  }
}

export function profileFile(flags: CommandInput['flags']): ProfileFile {
  const { profile, profileFolder } = readCommandLineSettings(flags);
  return new ProfileFile(profileFolder, profile, systemClock);
}

export function clientFor(url: string, storage?: TokenStorage, options: ConnectionOptions = {}): Client {
  return createClient({
    url,
    storage,
    headers: { 'user-agent': `espalier/${version()}` },
    retrySeconds: options.retrySeconds ?? 5,
    fetch: options.fetch,
  });
}

/** The queries of the commands are written for a server of their own version. */
function isOfAnotherVersion(error: unknown): error is EspalierError {
  return (
    error instanceof EspalierError && /^GRAPHQL_(VALIDATION|PARSE)_FAILED$/.test(error.code) && !error.data
  );
}

function anotherVersion(url: string, { message }: EspalierError): EspalierError {
  return new EspalierError(
    'NOT_ESPALIER',
    `The server at ${url} has another version and does not support this command: ${message}`,
  );
}

/** Thrown by work that a signal stopped, with a message for the user. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** The first signal stops the work. The second one ends the process at once. */
export async function untilSignal<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { stopSeconds = 3 }: Pick<ConnectionOptions, 'stopSeconds'> = {},
): Promise<T> {
  const stopping = new AbortController();
  let received: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals) => {
    const end = () => process.exit(128 + constants.signals[signal]);
    if (received) end();
    received = signal;
    stopping.abort();
    // Work that ignores the signal, for example an attempt to connect, is abandoned.
    setTimeout(end, stopSeconds * 1000).unref();
  };
  for (const name of stopSignals) process.on(name, stop);
  try {
    return await work(stopping.signal);
  } catch (error) {
    if (!received || error instanceof ExitError) throw error;
    const message = error instanceof Stopped ? error.message : '';
    throw new ExitError(128 + constants.signals[received], message);
  } finally {
    for (const name of stopSignals) process.off(name, stop);
  }
}
