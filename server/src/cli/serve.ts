/** `espalier serve`: runs the server until it is told to stop, and says where everything is. */

import { isIPv4 } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { systemClock } from '../clock.ts';
import { settingsOfProcess, settingsTable, type Settings } from '../config.ts';
import { withoutPassword } from '../shown-url.ts';
import type { NewAdministrator } from '../first-start.ts';
import { startServer, type RunningServer } from '../server.ts';
import { command } from './command.ts';
import { logDestination } from './log-destination.ts';
import { catchStopSignals, endOnBug, type StopSignal } from './signals.ts';
import { version } from './version.ts';

const shortestPassword = 8;

export const serve = command({
  settings: Object.values(settingsTable),
  details: 'Every setting is a flag or an environment variable; a flag wins.',
  run: ({ flags }) => serveUntilStopped(flags),
});

async function serveUntilStopped(flags: Readonly<Record<string, string>>): Promise<void> {
  const stop = catchStopSignals();
  const { settings, warnings } = settingsOfProcess(flags);
  warnings.forEach(warn);
  warnIfExposed(settings);
  warnIfReadable(settings);
  const log = pino({ level: settings.logLevel }, logDestination());
  endOnBug(log);
  let administrator: NewAdministrator | undefined;
  const starting = startServer({
    settings,
    clock: systemClock,
    log,
    version: version(),
    signal: stop.signal,
    onNewAdministrator: (created) => {
      administrator = created;
      console.log(welcome(created, settings));
      if (settings.adminPassword && [...settings.adminPassword].length < shortestPassword) {
        warn(
          `The given administrator's password has fewer than ${shortestPassword} characters: easy to guess.`,
        );
      }
    },
  });
  const server = await unlessStopped(starting, stop, settings);
  if (server) {
    warnIfUnsealed(settings);
    console.log(addresses(server, settings));
    console.log(howToTry(server, administrator));
    await stop.asked;
    await server.close();
  }
  console.log('Stopped.');
  // Whatever is still waited for has been left.
  process.exit(0);
}

/** Undefined if a signal came first: the start is given up before it listens, and waited for only so long. */
async function unlessStopped(
  starting: Promise<RunningServer>,
  { signal, asked }: StopSignal,
  { stopSeconds }: Settings,
): Promise<RunningServer | undefined> {
  const isLate = asked.then(() => delay(stopSeconds * 1000, undefined));
  try {
    return await Promise.race([starting, isLate]);
  } catch (error) {
    if (error === signal.reason) return undefined;
    throw error;
  }
}

function warn(text: string): void {
  console.error(`warning: ${text}`);
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || /^\[?::1\]?$/.test(host) || (isIPv4(host) && host.startsWith('127.'));
}

function warnIfExposed({ host, tlsCertFile, trustProxy }: Settings): void {
  if (isLoopbackHost(host) || tlsCertFile || trustProxy !== false) return;
  warn(
    `Listening on ${host} without TLS: passwords and tokens cross the network unprotected. Set ESPALIER_TLS_CERT_FILE and ESPALIER_TLS_KEY_FILE, or put a TLS proxy in front and set ESPALIER_TRUST_PROXY.`,
  );
}

/** As with any password that crosses a network. */
function warnIfReadable({ databaseUrl }: Settings): void {
  if (!URL.canParse(databaseUrl)) return;
  const { hostname, searchParams } = new URL(databaseUrl);
  if (!hostname || isLoopbackHost(hostname) || searchParams.has('sslmode') || searchParams.has('ssl')) return;
  warn(
    `The connection to the database at ${hostname} is not encrypted. Add ?sslmode=verify-full to its URL, or sslmode=disable if that is meant.`,
  );
}

/** A file is for its owner alone; a database elsewhere has others who can read it. */
function warnIfUnsealed({ databaseUrl, masterKey }: Settings): void {
  if (masterKey !== undefined || databaseUrl.startsWith('sqlite:')) return;
  warn(
    'The private signing keys are stored unsealed: whoever can read the database or a backup of it can make tokens. Set ESPALIER_MASTER_KEY_FILE on every node; openssl rand -base64 32 makes a key.',
  );
}

function welcome({ username, generatedPassword }: NewAdministrator, { databaseUrl }: Settings): string {
  const password = generatedPassword ? `${generatedPassword}   (shown only this once)` : 'as you set it';
  return `
First start: set up ${withoutPassword(databaseUrl)} and its administrator

  User name  ${username}
  Password   ${password}`;
}

function addresses({ url }: RunningServer, { databaseUrl, demo }: Settings): string {
  return `
Espalier ${version()} is running

  API        ${url}
  GraphQL    ${url}/graphql
  WebSocket  ${url.replace(/^http/, 'ws')}/graphql
  OpenAPI    ${url}/openapi.json
  Database   ${withoutPassword(databaseUrl)}${demo ? ' (with the demonstration tree)' : ''}`;
}

function howToTry({ url }: RunningServer, administrator: NewAdministrator | undefined): string {
  const json = `-H 'Content-Type: application/json'`;
  if (!administrator?.generatedPassword) {
    return `
Log in with your user name and password at ${url}/login; what else there is:

  curl -s ${url}/openapi.json

Stop with Ctrl-C.`;
  }
  const { username, generatedPassword } = administrator;
  const body = JSON.stringify({ username, password: generatedPassword }).replaceAll("'", `'\\''`);
  return `
Log in, and read the top of the tree:

  TOKEN=$(curl -s ${url}/login ${json} -d '${body}' | cut -d'"' -f4)
  curl -s ${url}/graphql -H "Authorization: Bearer $TOKEN" ${json} -d '{"query":"{folder{name folders{edges{node{name}}}}}"}'

Stop with Ctrl-C.`;
}
