/** `espalier serve`: runs the server until it is told to stop, and says where everything is. */

import { isIPv4 } from 'node:net';
import { pino } from 'pino';
import { systemClock } from '../clock.ts';
import { settingsOfProcess, settingsTable, type Settings } from '../config.ts';
import { withoutPassword } from '../shown-url.ts';
import type { NewAdministrator } from '../first-start.ts';
import { startServer, type RunningServer } from '../server.ts';
import { describeFlags, parseFlags } from './flags.ts';
import { logDestination } from './log-destination.ts';
import { version } from './version.ts';

const shortestPassword = 8;

export async function serve(args: string[]): Promise<void> {
  const { settings, warnings } = settingsOfProcess(parseFlags(args));
  warnings.forEach(warn);
  warnIfExposed(settings);
  warnIfReadable(settings);
  let administrator: NewAdministrator | undefined;
  const server = await startServer({
    settings,
    clock: systemClock,
    log: pino({ level: settings.logLevel }, logDestination()),
    version: version(),
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
  // Before it is told how to stop it: the signal may come at once.
  stopOnSignal(server);
  console.log(addresses(server, settings));
  console.log(howToTry(server, administrator));
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

/** The first signal lets what is in flight finish; the second does not wait. */
function stopOnSignal(server: RunningServer): void {
  let isStopping = false;
  const stop = () => {
    if (isStopping) process.exit(1);
    isStopping = true;
    console.log('\nStopping; a second Ctrl-C does not wait for requests in flight.');
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

export function serveHelp(): string {
  return `Usage: espalier serve [flags]

Runs the server. Every setting is a flag or an environment variable; a flag wins.

${describeFlags(Object.values(settingsTable))}`;
}
