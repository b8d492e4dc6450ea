/** How commands talk to a server: with the login that `espalier login` has kept. */

import { constants } from 'node:os';
import { createClient, EspalierError, type Client, type TokenStorage } from '@espalier/client';
import { systemClock } from '../clock.ts';
import { commandLineOfProcess } from '../config.ts';
import { commandLineSettings } from '../settings/command-line-settings.ts';
import type { Setting } from '../settings/setting.ts';
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

/** Runs with the session of the profile; whatever the work does, the connection is closed at its end. */
export async function withConnection<T>(
  { flags }: Pick<Given, 'flags'>,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const file = profileFile(flags);
  const { url } = commandLineOfProcess(flags);
  const profile = await file.read();
  if (!profile) throw new EspalierError('LOGGED_OUT', 'Nobody is logged in.');
  if (url !== undefined && url !== profile.url) {
    throw new EspalierError('LOGGED_OUT', `The login is for ${profile.url}, and not for ${url}.`);
  }
  const client = clientFor(profile.url, file.storage());
  return untilSignal((signal) => work({ client, profile, file, signal })).finally(() => client.close());
}

export function profileFile(flags: Given['flags']): ProfileFile {
  const { profile, profileFolder } = commandLineOfProcess(flags);
  return new ProfileFile(profileFolder, profile, systemClock);
}

export function clientFor(url: string, storage?: TokenStorage): Client {
  return createClient({ url, storage, headers: { 'user-agent': `espalier/${version()}` }, retrySeconds: 10 });
}

/** The first signal stops the work, the second does not wait for it. */
export async function untilSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  let received: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals) => {
    if (received) process.exit(128 + constants.signals[signal]);
    received = signal;
    stopping.abort();
  };
  for (const name of stopSignals) process.on(name, stop);
  try {
    return await work(stopping.signal);
  } catch (error) {
    if (received) throw new ExitError(128 + constants.signals[received]);
    throw error;
  } finally {
    for (const name of stopSignals) process.off(name, stop);
  }
}
