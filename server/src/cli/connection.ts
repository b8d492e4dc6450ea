/** How commands talk to a server: with the login that `espalier login` has kept. */

import { constants } from 'node:os';
import { createClient, EspalierError, type Client, type TokenStorage } from '@espalier/client';
import { systemClock } from '../clock.ts';
import { readCommandLineSettings } from '../config/config.ts';
import { commandLineSettings } from '../config/start-settings.ts';
import type { Setting } from '../config/setting.ts';
import type { Given } from './command.ts';
import { ExitError } from './failures.ts';
import { ProfileFile, type Profile } from './profile.ts';
import { version } from './version.ts';

/** The settings of every command that goes through the API. */
export const connectionSettings: readonly Setting<unknown>[] = Object.values(commandLineSettings);

export const defaultUrl = 'http://127.0.0.1:8080';
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Connection {
  readonly client: Client;
  readonly profile: Profile;
  readonly file: ProfileFile;
  /** Aborted by Ctrl-C: give it to what takes long. */
  readonly signal: AbortSignal;
}

export interface ConnectionOptions {
  /** Sends what the client sends, and may look at it. */
  readonly fetch?: typeof fetch;
  /** For how long a server that is away is waited for. */
  readonly retrySeconds?: number;
  /** How long the work may take to end by itself after a signal; a second signal does not wait for it. */
  readonly stopSeconds?: number;
}

/** Runs with the session of the profile; whatever the work does, the connection is closed at its end. */
export async function withConnection<T>(
  { flags }: Pick<Given, 'flags'>,
  work: (connection: Connection) => Promise<T>,
  options: ConnectionOptions = {},
): Promise<T> {
  const file = profileFile(flags);
  const { url } = readCommandLineSettings(flags);
  const profile = await file.read();
  if (!profile) throw new EspalierError('LOGGED_OUT', 'Nobody is logged in.');
  if (url !== undefined && url !== profile.url) {
    throw new EspalierError('LOGGED_OUT', `The login is for ${profile.url}, and not for ${url}.`);
  }
  if (await file.close()) {
    console.error(`espalier: Others could read the login in ${file.path}. Now it is for you alone.`);
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

export function profileFile(flags: Given['flags']): ProfileFile {
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
    `The server at ${url} is of another version, and does not know what this command asks for: ${message}`,
  );
}

/** Thrown by work that was stopped by a signal, and has something to say about it. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** The first signal stops the work, the second does not wait for it. */
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
    // What does not listen, such as a connection that is being made, is left alone.
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
