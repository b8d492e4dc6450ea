/** Whether a server answers, is Espalier, and what stands between it and its clients. */

import { connect as connectTls } from 'node:tls';
import type { ProbeResponse } from '@espalier/contract';
import type { Clock } from '../../clock.ts';
import { version } from '../version.ts';
import { ask, jsonOf, type Answer } from './http-request.ts';
import type { Examined } from './check-context.ts';
import { ok, problem, skipped, warning, type Findings } from './finding.ts';
import { checkSocket } from './socket-check.ts';
import { ageOf } from './tls-check.ts';

const connectWithinMs = 10_000;
const proxies = 'docs/deployment.md shows how proxies are set up.';

export async function* checkServer({ clock, server, settings }: Examined): Findings {
  const { url } = server;
  if (url === undefined) {
    yield skipped('The port is chosen at the start: nobody can tell where a server is. Name it with --url.');
    return;
  }
  let alive: Answer;
  try {
    alive = await server.alive();
  } catch (error) {
    const text = `No server answers at ${url}: ${reasonOf(error)}.`;
    yield server.isGiven
      ? problem(text, 'Is it started, are host, port and path right, and does a firewall let it through?')
      : skipped(`${text} Start it, or name another with --url <url>.`);
    return;
  }
  yield* checkKind(clock, url, alive);
  if ((jsonOf(alive.body) as { status?: string } | undefined)?.status !== 'ok') return;
  yield* checkReadiness(clock, url);
  if (url.startsWith('https:')) yield* checkCertificate(clock, url, server.isGiven);
  yield* checkTokens(clock, url);
  yield* checkSocket(url, {});
  const proxy = alive.headers.via ?? alive.headers['server'];
  if (proxy !== undefined && settings.trustProxy === false) {
    yield warning(
      `A proxy (${String(proxy)}) is in front of it, and ESPALIER_TRUST_PROXY is not set here: all clients would have the proxy's address, and be slowed down together when passwords are guessed.`,
      'Set ESPALIER_TRUST_PROXY to the address of the proxy, if these are the settings of that server.',
    );
  }
}

async function* checkKind(clock: Clock, url: string, alive: Answer): Findings {
  const { status, headers } = alive;
  if (status >= 300 && status < 400) {
    yield problem(`${url} leads elsewhere: ${headers.location ?? ''}.`, 'Use the address that it leads to.');
    return;
  }
  if ((jsonOf(alive.body) as { status?: string } | undefined)?.status !== 'ok') {
    yield problem(
      `What answers at ${url} is not Espalier: /livez is answered with ${status}.`,
      'Give the API root that the server prints when it starts, with ESPALIER_BASE_PATH.',
    );
    return;
  }
  const { body } = await ask(clock, `${url}/openapi.json`);
  const info = (jsonOf(body) as { info?: { title?: string; version?: string } } | undefined)?.info;
  if (info?.title !== 'Espalier') {
    yield problem(`What answers at ${url} does not say that it is Espalier.`, proxies);
  } else if (info.version === version()) {
    yield ok(`Espalier ${info.version} answers at ${url}.`);
  } else {
    yield warning(
      `Espalier ${info.version} answers at ${url}, and this is ${version()}.`,
      'Bring both to the same version.',
    );
  }
}

async function* checkReadiness(clock: Clock, url: string): Findings {
  const { status, body } = await ask(clock, `${url}/readyz?verbose`);
  const found = jsonOf(body) as (Partial<ProbeResponse> & { detail?: string }) | undefined;
  if (status === 200) yield ok('It is ready: its database answers.');
  else {
    const detail = found?.detail ?? `/readyz is answered with ${status}`;
    yield problem(`It is not ready: ${detail.replace(/\.$/, '')}.`, 'Its log says more.');
  }
  if (status === 200 && found?.checks?.['writes'] === 'failed') {
    yield problem(
      `Changes and logins fail: ${found.reasons?.['writes'] ?? 'the database cannot be written.'}`,
      'Its log says more. The check passes again when such a write succeeds, or a minute or two after the cause is gone.',
    );
  }
}

/** As a client sees it, with what stands before the server. */
async function* checkCertificate(clock: Clock, url: string, isGiven: boolean): Findings {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connectTls({ host, port: Number(port || 443), servername: host, rejectUnauthorized: false });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.setTimeout(connectWithinMs, () => reject(new Error('no answer')));
      socket.once('secureConnect', resolve).once('error', reject);
    });
    const { valid_from: validFrom, valid_to: validTo } = socket.getPeerCertificate();
    yield ageOf({ validFrom, validTo }, clock);
    const untrusted = socket.authorizationError as Error | string | undefined;
    if (!untrusted) yield ok('The certificate is trusted here.');
    else if (isGiven) {
      yield problem(
        `The certificate is not trusted here: ${untrusted instanceof Error ? untrusted.message : untrusted}.`,
        'Serve the full chain, under a name that the certificate is for; or tell clients of your authority (NODE_EXTRA_CA_CERTS).',
      );
    }
  } finally {
    socket.destroy();
  }
}

/** Checks whether headers pass through proxies in both directions, and whether responses are current. */
async function* checkTokens(clock: Clock, url: string): Findings {
  const address = `${url}/graphql?query=%7B__typename%7D`;
  // A different request: a cached response of the first one must not answer it.
  const otherAddress = `${url}/graphql?query=%7Bfolder%7Bid%7D%7D`;
  const headers = { accept: 'application/json' };
  const without = await ask(clock, address, { headers });
  const again = await ask(clock, address, { headers });
  const withToken = await ask(clock, otherAddress, { headers: { ...headers, authorization: 'Bearer none' } });
  const challenges = [without, withToken].map((answer) => String(answer.headers['www-authenticate'] ?? ''));
  if (without.status !== 401 || !challenges[0]!.startsWith('Bearer')) {
    yield problem(
      `A request without a token is answered with ${without.status}${challenges[0] ? '' : ' and no WWW-Authenticate'}: something in between answers, or takes headers away.`,
      proxies,
    );
    return;
  }
  yield /error="invalid_token"/.test(challenges[1]!)
    ? ok('Auth tokens get through: the Authorization header is passed on.')
    : problem('The Authorization header does not get through: a proxy takes it away.', proxies);
  const idOf = ({ body }: Answer) => /"requestId":"([^"]+)"/.exec(body)?.[1];
  const isCached = idOf(without) !== undefined && idOf(without) === idOf(again);
  yield isCached || Number(again.headers.age ?? 0) > 0
    ? problem(
        'A proxy keeps answers, and gives them to others.',
        `Turn caching off for ${url}/graphql; answers say no-store.`,
      )
    : ok('Nothing in between keeps answers.');
}

/** What OpenSSL says of something that does not speak TLS fills two lines. */
function reasonOf(error: unknown): string {
  const { message } = error as Error;
  if (/EPROTO|wrong version number|WRONG_VERSION/i.test(message))
    return 'what listens there does not speak TLS';
  return message.split('\n', 1)[0]!;
}
