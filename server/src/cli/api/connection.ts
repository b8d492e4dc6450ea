/** Connects commands to a server, with an API key or with the session that `espalier login` stored. */

import { constants } from 'node:os';
import type { Client, EspalierError, TokenStorage } from '@espalier/client';
import { systemClock } from '../../clock.ts';
import {
  commandLineSettings,
  readApiKey,
  readCommandLineSettings,
  type ApiKeyInput,
} from '../../config/command-line.ts';
import { UsageError } from '../../config/start-error.ts';
import type { Setting } from '../../config/setting.ts';
import {
  command,
  json,
  type Command,
  type CommandInput,
  type Definition,
  type Option,
  type Options,
  type Output,
  type SettingFlags,
} from '../command.ts';
import { ExitError, failure, isClientError } from '../failures.ts';
import { version } from '../package-files.ts';
import { ProfileFile } from './profile.ts';

/** The settings of every command that uses the API. */
export const connectionSettings: readonly Setting[] = Object.values(commandLineSettings);

/** The settings of commands that only work with a stored login. */
export const loginSettings: readonly Setting[] = [commandLineSettings.url, commandLineSettings.profile];

export const defaultUrl = 'http://127.0.0.1:8080';
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Connection {
  readonly client: Client;
  /** Whether the client uses an API key instead of a session. */
  readonly hasApiKey: boolean;
  readonly file: ProfileFile;
  /** Aborted by Ctrl-C. Pass it to long calls. */
  readonly signal: AbortSignal;
}

export interface ConnectionOptions {
  /** Replaces the `fetch` of the client, for example to report progress. */
  readonly fetch?: typeof fetch;
  /** How long to retry while the server cannot be reached. */
  readonly retrySeconds?: number;
  /** How long the work may continue after a signal. A second signal ends it immediately. */
  readonly stopSeconds?: number;
}

type WithJson<O extends Options> = O & { readonly json: Option };

interface ApiDefinition<O extends Options> extends Omit<Definition<O>, 'settings' | 'run'> {
  /** Throws a usage error before the command connects. */
  readonly validate?: (input: CommandInput<WithJson<O>>) => void;
  readonly run: (connection: Connection, input: CommandInput<WithJson<O>>) => Promise<Output | void>;
}

/** Defines a command that uses a server with the stored session. It has the option --json. */
export function apiCommand<const O extends Options>(definition: ApiDefinition<O>): Command {
  const options = { ...definition.options!, json: definition.options?.['json'] ?? json };
  return command<WithJson<O>>({
    ...definition,
    options,
    settings: connectionSettings,
    run(input) {
      definition.validate?.(input);
      return withConnection(input.flags, (connection) => definition.run(connection, input));
    },
  });
}

/** Runs the work with the API key, or else with the session of the profile, and then closes the connection. */
export async function withConnection<T>(
  flags: SettingFlags,
  work: (connection: Connection) => Promise<T>,
  options: ConnectionOptions = {},
): Promise<T> {
  const file = profileFile(flags);
  const apiKey = readApiKey(flags);
  const client = apiKey
    ? await clientWithKey(flags, apiKey, file, options)
    : await clientWithSession(flags, file, options);
  try {
    return await untilSignal(
      (signal) => work({ client, hasApiKey: apiKey !== undefined, file, signal }),
      options,
    );
  } catch (error) {
    if (isClientError(error, 'LOGGED_OUT')) throw file.sessionEndedError();
    if (apiKey && isClientError(error, 'INVALID_API_KEY')) {
      throw failure('INVALID_API_KEY', `${error.message} The key is from ${apiKey.source}.`);
    }
    throw isFromOtherVersion(error)
      ? otherVersionError(client.url, error)
      : explainConnection(client.url, error);
  } finally {
    client.close();
  }
}

async function clientWithSession(
  flags: SettingFlags,
  file: ProfileFile,
  options: ConnectionOptions,
): Promise<Client> {
  const { url } = readCommandLineSettings(flags);
  const profile = await file.read();
  if (!profile?.tokens) throw file.notLoggedInError(url ?? profile?.url);
  if (url !== undefined && url !== profile.url) {
    throw file.loggedOutError(`The stored session is for ${profile.url}, not for ${url}.`, url);
  }
  if (await file.makePrivate()) {
    console.error(`espalier: Other users could read your session in ${file.path}. Only you can read it now.`);
  }
  return clientFor(profile.url, { storage: file.storage() }, options);
}

/** Uses the server of the last login, as the next login would. */
async function clientWithKey(
  flags: SettingFlags,
  { key, source }: ApiKeyInput,
  file: ProfileFile,
  options: ConnectionOptions,
): Promise<Client> {
  if ('profile' in flags) {
    throw new UsageError(
      `--profile selects a stored login, but commands use the API key from ${source} instead. Leave out one of them.`,
    );
  }
  const url = readCommandLineSettings(flags).url ?? (await file.read())?.url ?? defaultUrl;
  return clientFor(url, { apiKey: key }, options);
}

/** Refuses a command that concerns the stored login, because an API key replaces the login. */
export function requireNoApiKey(flags: SettingFlags, advice: string): void {
  const source = readApiKey(flags)?.source;
  if (source === undefined) return;
  throw new UsageError(`${source} is set, so commands use this API key and no login. ${advice}`);
}

/** Adds advice to the error of a failed connection. */
export function explainConnection(url: string, error: unknown): unknown {
  if (!isClientError(error)) return error;
  const { code, message, cause } = error;
  const page = /\/(graphql|console)(\/.*)?$/.exec(url);
  let text: string | undefined;
  if (code === 'NOT_ESPALIER' && page) {
    text = `There is no Espalier API at ${url}. Use the URL without /graphql or /console, for example ${url.slice(0, page.index)}.`;
  } else if (code === 'UNREACHABLE' && /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|EPROTO/.test(message)) {
    text = `The server at ${url} does not use TLS. If this is intended, use ${url.replace(/^https:/, 'http:')}.`;
  } else if ((cause as { cause?: { code?: string } } | undefined)?.cause?.code === 'ECONNREFUSED') {
    text = `${message} Start the server with 'espalier serve', or specify another server with --url.`;
  }
  return text === undefined ? error : failure(code, text, { cause: error });
}

export function profileFile(flags: SettingFlags): ProfileFile {
  const { profile, profileFolder } = readCommandLineSettings(flags);
  return new ProfileFile(profileFolder, profile, systemClock);
}

/** Loads the client, which the help of a command does not need. */
export async function clientFor(
  url: string,
  credentials: { readonly storage: TokenStorage } | { readonly apiKey: string },
  options: ConnectionOptions = {},
): Promise<Client> {
  const { createClient } = await import('@espalier/client');
  const { retrySeconds = 5, fetch: send = fetch } = options;
  return createClient({
    url,
    ...credentials,
    headers: { 'user-agent': `espalier/${version()}` },
    retrySeconds,
    fetch: reportRetries(url, send),
  });
}

/** Reports once that the client repeats a request, so that the user knows the reason for the delay. */
function reportRetries(url: string, send: typeof fetch): typeof fetch {
  let lastFailure: string | undefined;
  let isReported = false;
  return async (input, init) => {
    if (lastFailure !== undefined && !isReported) {
      isReported = true;
      console.error(`espalier: ${lastFailure}. Retrying.`);
    }
    lastFailure = undefined;
    try {
      const response = await send(input, init);
      if (response.status >= 500) lastFailure = `${url} returned ${response.status}`;
      return response;
    } catch (error) {
      lastFailure = `Cannot connect to ${url}`;
      throw error;
    }
  };
}

/** The queries of the commands match the schema of their own version, so only a server of another version rejects them. */
function isFromOtherVersion(error: unknown): error is EspalierError {
  return isClientError(error) && /^GRAPHQL_(VALIDATION|PARSE)_FAILED$/.test(error.code) && !error.data;
}

function otherVersionError(url: string, { message }: EspalierError): ExitError {
  return failure(
    'NOT_ESPALIER',
    `The server at ${url} has another version and does not support this command: ${message}`,
  );
}

/** Thrown by work that a signal stopped, with a message for the user. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/** The first signal stops the work. The second one ends the process immediately. */
export async function untilSignal<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { stopSeconds = 3 }: Pick<ConnectionOptions, 'stopSeconds'> = {},
): Promise<T> {
  const controller = new AbortController();
  let received: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals) => {
    const end = () => process.exit(128 + constants.signals[signal]);
    if (received) end();
    received = signal;
    controller.abort();
    // Work that ignores the signal, for example an attempt to connect, is abandoned.
    setTimeout(end, stopSeconds * 1000).unref();
  };
  for (const name of stopSignals) process.on(name, stop);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (!received || error instanceof ExitError) throw error;
    const message = error instanceof StoppedError ? error.message : '';
    throw new ExitError(128 + constants.signals[received], message);
  } finally {
    for (const name of stopSignals) process.off(name, stop);
  }
}
