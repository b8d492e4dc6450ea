/** Checks the settings, the clock, the certificate, the metrics port and the trace collector. */

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Clock } from '../../clock.ts';
import type { Settings } from '../../config/settings-table.ts';
import { findSettingWarnings, unsealedWarning } from '../../config/settings-warnings.ts';
import { readTlsFiles } from '../../config/tls-files.ts';
import { StartError } from '../../config/start-error.ts';
import {
  type CheckContext,
  type Finding,
  type Findings,
  type HttpResponse,
  formatAddress,
  ok,
  problem,
  responds,
  sendRequest,
  skipped,
  warning,
} from './check-context.ts';

export function checkSettings(settings: Settings, warnings: readonly string[]): Finding[] {
  const { adminPassword, refreshTokenSeconds, authTokenSeconds } = settings;
  const found = [
    ...warnings,
    ...findSettingWarnings(settings),
    unsealedWarning(settings),
    adminPassword !== undefined && [...adminPassword].length < 8
      ? 'ESPALIER_ADMIN_PASSWORD has fewer than 8 characters and is easy to guess. Only the first start uses it.'
      : undefined,
    refreshTokenSeconds <= authTokenSeconds
      ? 'Refresh tokens do not live longer than auth tokens (ESPALIER_REFRESH_TOKEN_SECONDS, ESPALIER_AUTH_TOKEN_SECONDS): clients cannot refresh in time.'
      : undefined,
  ].filter((text) => text !== undefined);
  return [ok('All settings are valid.'), ...found.map((text) => warning(text))];
}

export function invalidSetting(message: string): Finding {
  return problem(message, "Run 'espalier docs configuration' for all settings and their values.");
}

/** Nodes accept each other's tokens if their clocks differ by less than a minute. Expiry has no tolerance. */
const problemMs = 60_000;
const warningMs = 5_000;
const firstYear = 2025;
const lastYear = 2100;
const ntp = 'Synchronize the clock of every machine by NTP.';

export async function* checkClock({ clock, file, postgres, server }: CheckContext): Findings {
  const now = new Date(clock.now());
  const year = now.getUTCFullYear();
  const currentTime = now.toISOString();
  yield year >= firstYear && year < lastYear
    ? ok(`The clock of this machine shows ${currentTime}.`)
    : problem(
        `The clock of this machine shows ${currentTime}, which is wrong: tokens would be valid at the wrong time.`,
        ntp,
      );
  if (file === undefined) {
    const facts = await postgres().catch(() => undefined);
    // Other checks report a database that does not respond.
    if (facts) yield compareClocks('the database', facts.nowMs, facts.readAtMs);
  }
  if (server.url === undefined) return;
  const response = await server.readLiveness().catch(() => undefined);
  const date = Date.parse(response?.headers.date ?? '');
  // The server reports whole seconds.
  if (response && !Number.isNaN(date))
    yield compareClocks(`the server at ${server.url}`, date + 500, response.atMs);
}

function compareClocks(whose: string, theirs: number, ours: number): Finding {
  const ahead = theirs - ours;
  const seconds = Math.round(Math.abs(ahead) / 1000);
  if (seconds * 1000 < warningMs) return ok(`The clock of ${whose} shows the same time.`);
  const text = `The clock of ${whose} is ${seconds.toLocaleString('en')} seconds ${ahead > 0 ? 'ahead of' : 'behind'} this one.`;
  return Math.abs(ahead) > problemMs ? problem(text, ntp) : warning(text, ntp);
}

const expiresSoonMs = 14 * 86_400_000;

export function* checkTls({ settings, clock }: CheckContext): Iterable<Finding> {
  let certificates: X509Certificate[];
  try {
    const files = readTlsFiles(settings);
    if (!files) {
      yield ok('The server uses plain HTTP, because ESPALIER_TLS_CERT_FILE is not set.');
      return;
    }
    const texts = files.cert
      .toString()
      .match(/-----BEGIN ([A-Z0-9 ]*CERTIFICATE)-----[^]+?-----END \1-----/g);
    certificates = (texts ?? []).map((text) => new X509Certificate(text));
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    yield problem(
      error.message,
      'Set ESPALIER_TLS_CERT_FILE to a PEM file with the certificate of the server, followed by those of its issuers. Set ESPALIER_TLS_KEY_FILE to a PEM file with its key, which must be long enough.',
    );
    return;
  }
  const [leaf] = certificates;
  yield ok(`The certificate is for ${namesOf(leaf!)}, and the key belongs to it.`);
  yield checkAge(leaf!, clock);
  yield* checkChain(certificates);
}

export function checkAge(
  { validFrom, validTo }: Pick<X509Certificate, 'validFrom' | 'validTo'>,
  clock: Clock,
): Finding {
  const now = clock.now();
  const end = Date.parse(validTo);
  const date = new Date(end).toISOString().slice(0, 10);
  if (Date.parse(validFrom) > now) {
    return problem(
      `The certificate is not valid before ${new Date(validFrom).toISOString()}.`,
      'Check the clock.',
    );
  }
  if (end <= now) return problem(`The certificate expired on ${date}.`, 'Renew it and restart the server.');
  const days = Math.floor((end - now) / 86_400_000);
  return end - now < expiresSoonMs
    ? warning(
        `The certificate expires in ${days === 1 ? 'a day' : `${days} days`}, on ${date}.`,
        'Renew it and restart the server.',
      )
    : ok(`The certificate is valid until ${date}.`);
}

function* checkChain(certificates: readonly X509Certificate[]): Iterable<Finding> {
  const [leaf] = certificates;
  if (leaf!.subject === leaf!.issuer && leaf!.verify(leaf!.publicKey)) {
    yield warning('The certificate is self-signed: clients trust it only if you configure them to.');
    return;
  }
  const wrong = certificates.slice(1).findIndex((issuer, index) => !certificates[index]!.checkIssued(issuer));
  if (wrong >= 0) {
    yield problem(
      `Certificate ${wrong + 2} in the file is not the issuer of certificate ${wrong + 1}.`,
      'Use the file with the full chain of your authority, in its original order.',
    );
  } else if (certificates.length === 1) {
    yield warning(
      'The file contains only the certificate of the server: clients may not know its issuer.',
      'Use the file with the full chain, often named fullchain.pem, unless a root authority issued the certificate.',
    );
  } else {
    yield ok(`The chain has ${certificates.length} certificates in the right order.`);
  }
}

function namesOf({ subjectAltName, subject }: X509Certificate): string {
  const names = subjectAltName?.split(', ').map((name) => name.replace(/^[^:]+:/, ''));
  return names?.join(', ') ?? subject.replaceAll('\n', ', ');
}

const otherPort = 'Stop the other program, or set ESPALIER_METRICS_PORT to another port.';

export async function* checkTelemetry(context: CheckContext): Findings {
  yield await checkMetricsPort(context);
  yield await checkCollector(context);
}

async function checkMetricsPort({ clock, server, settings }: CheckContext): Promise<Finding> {
  const { metricsHost: host, metricsPort: port } = settings;
  if (port === undefined) return skipped('No metrics are served: ESPALIER_METRICS_PORT is not set.');
  if (port === 0) return skipped('The server chooses the metrics port when it starts.');
  const url = `http://${formatAddress(host, port)}/metrics`;
  let response: HttpResponse;
  try {
    response = await sendRequest(clock, url);
  } catch (error) {
    if (codeOf((error as Error).cause) !== 'ECONNREFUSED') {
      const taken = await whyNotFree(host, port);
      const why = taken ?? (error as Error).message;
      return problem(`Cannot read metrics at ${url}: ${why}.`, otherPort);
    }
    const isServed = await responds(server);
    if (isServed) {
      return warning(
        `A server responds at ${server.url} but serves no metrics at ${url}.`,
        'Restart the server with these settings. If it runs on another machine, its metrics are there.',
      );
    }
    const why = await whyNotFree(host, port);
    return why === undefined
      ? ok(`The port for metrics is free: ${url}.`)
      : problem(`Cannot serve metrics at ${url}: ${why}.`, otherPort);
  }
  const version = /^espalier_build_info\{[^}]*version="([^"]+)"/m.exec(response.body)?.[1];
  return version === undefined
    ? problem(`The program at ${url} is not Espalier (status ${response.status}).`, otherPort)
    : ok(`Metrics of Espalier ${version} can be read at ${url}.`);
}

/** Binds the port briefly. Returns undefined if the port is free. */
async function whyNotFree(host: string, port: number): Promise<string | undefined> {
  const probe = createServer();
  try {
    probe.listen({ host, port });
    await once(probe, 'listening');
    probe.close();
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE') return 'another program uses the port';
    if (code === 'EACCES') return 'the current system user may not use the port';
    if (code === 'EADDRNOTAVAIL') return `${host} is not an address of this machine`;
    return (error as Error).message;
  }
}

/** Sends an empty export, which every collector accepts. The headers are secret and not displayed. */
async function checkCollector({ clock, settings }: CheckContext): Promise<Finding> {
  const { tracesUrl: url, tracesHeaders } = settings;
  if (url === undefined) return skipped('No traces are sent: ESPALIER_TRACES_URL is not set.');
  const lost = 'Until then, the server loses traces but works normally.';
  try {
    const { status } = await sendRequest(clock, url, {
      method: 'POST',
      headers: { ...tracesHeaders, 'content-type': 'application/json' },
      body: '{"resourceSpans":[]}',
      mustBeTrusted: true,
    });
    if (status >= 200 && status < 300) return ok(`The collector at ${url} accepts traces.`);
    return status === 401 || status === 403
      ? warning(
          `The collector at ${url} returns ${status}: it requires authentication.`,
          `Set ESPALIER_TRACES_HEADERS_FILE to a file with the required headers. ${lost}`,
        )
      : warning(
          `The collector at ${url} returns ${status}.`,
          `Set ESPALIER_TRACES_URL to its address for OTLP over HTTP, which often ends in /v1/traces. ${lost}`,
        );
  } catch (error) {
    const { message } = error as Error;
    return warning(
      `Cannot reach a collector at ${url}: ${message}.`,
      `Start it, or set ESPALIER_TRACES_URL to its address. ${lost}`,
    );
  }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code;
}
