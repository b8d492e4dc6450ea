/** Checks that a server responds and is Espalier, and that its proxies pass requests and responses unchanged. */

import { connect as connectTls } from 'node:tls';
import type { ProbeResponse } from '@espalier/contract';
import type { Clock } from '../../clock.ts';
import { version } from '../version.ts';
import { sendRequest, jsonOf, type HttpResponse } from './http-request.ts';
import type { CheckContext } from './check-context.ts';
import { ok, problem, skipped, warning, type Findings } from './finding.ts';
import { checkSocket } from './socket-check.ts';
import { ageOf } from './tls-check.ts';

const connectWithinMs = 10_000;
const proxies = 'Correct the configuration of the proxy; see docs/deployment.md.';

export async function* checkServer({ clock, server, settings }: CheckContext): Findings {
  const { url } = server;
  if (url === undefined) {
    yield skipped(
      'The server chooses its port when it starts, so its address is unknown. Specify it with --url.',
    );
    return;
  }
  let alive: HttpResponse;
  try {
    alive = await server.alive();
  } catch (error) {
    const text = `No server responds at ${url}: ${reasonOf(error)}.`;
    yield server.isExplicit
      ? problem(
          text,
          'Make sure that the server runs, that host, port and path are right, and that no firewall blocks it.',
        )
      : skipped(`${text} Start it, or specify another server with --url <url>.`);
    return;
  }
  yield* checkKind(clock, url, alive);
  if ((jsonOf(alive.body) as { status?: string } | undefined)?.status !== 'ok') return;
  yield* checkReadiness(clock, url);
  if (url.startsWith('https:')) yield* checkCertificate(clock, url, server.isExplicit);
  yield* checkTokens(clock, url);
  yield* checkSocket(url, {});
  const proxy = alive.headers.via ?? alive.headers['server'];
  if (proxy !== undefined && settings.trustProxy === false) {
    yield warning(
      `Requests pass a proxy (${String(proxy)}), but ESPALIER_TRUST_PROXY is not set. All clients then have the address of the proxy and share one login throttle.`,
      'Set ESPALIER_TRUST_PROXY to the address of the proxy, if these are the settings of that server.',
    );
  }
}

async function* checkKind(clock: Clock, url: string, alive: HttpResponse): Findings {
  const { status, headers } = alive;
  if (status >= 300 && status < 400) {
    yield problem(`${url} redirects to ${headers.location ?? ''}.`, 'Use the address of the redirect.');
    return;
  }
  if ((jsonOf(alive.body) as { status?: string } | undefined)?.status !== 'ok') {
    yield problem(
      `The server at ${url} is not Espalier: /livez returns ${status}.`,
      'Use the API address that the server prints when it starts, including ESPALIER_BASE_PATH.',
    );
    return;
  }
  const { body } = await sendRequest(clock, `${url}/openapi.json`);
  const info = (jsonOf(body) as { info?: { title?: string; version?: string } } | undefined)?.info;
  if (info?.title !== 'Espalier') {
    yield problem(`The server at ${url} does not identify itself as Espalier.`, proxies);
  } else if (info.version === version()) {
    yield ok(`Espalier ${info.version} responds at ${url}.`);
  } else {
    yield warning(
      `Espalier ${info.version} responds at ${url}, but this program has version ${version()}.`,
      'Install the same version of both.',
    );
  }
}

async function* checkReadiness(clock: Clock, url: string): Findings {
  const { status, body } = await sendRequest(clock, `${url}/readyz?verbose`);
  const found = jsonOf(body) as (Partial<ProbeResponse> & { detail?: string }) | undefined;
  if (status === 200) yield ok('The server is ready: its database responds.');
  else {
    const detail = found?.detail ?? `/readyz returns ${status}`;
    yield problem(`The server is not ready: ${detail.replace(/\.$/, '')}.`, 'See the log of the server.');
  }
  if (status === 200 && found?.checks?.['writes'] === 'failed') {
    yield problem(
      `Changes and logins fail: ${found.reasons?.['writes'] ?? 'the database cannot be written.'}`,
      'See the log of the server. The check passes again after the next successful write, or one to two minutes after the cause is gone.',
    );
  }
}

/** Checks the certificate that clients receive, which may be that of a proxy. */
async function* checkCertificate(clock: Clock, url: string, isExplicit: boolean): Findings {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connectTls({ host, port: Number(port || 443), servername: host, rejectUnauthorized: false });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.setTimeout(connectWithinMs, () => reject(new Error('no response')));
      socket.once('secureConnect', resolve).once('error', reject);
    });
    const { valid_from: validFrom, valid_to: validTo } = socket.getPeerCertificate();
    yield ageOf({ validFrom, validTo }, clock);
    const untrusted = socket.authorizationError as Error | string | undefined;
    if (!untrusted) yield ok('The certificate is trusted here.');
    else if (isExplicit) {
      yield problem(
        `The certificate is not trusted here: ${untrusted instanceof Error ? untrusted.message : untrusted}.`,
        'Serve the full chain under a name of the certificate, or add your authority to the clients (NODE_EXTRA_CA_CERTS).',
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
  const without = await sendRequest(clock, address, { headers });
  const again = await sendRequest(clock, address, { headers });
  const withToken = await sendRequest(clock, otherAddress, {
    headers: { ...headers, authorization: 'Bearer none' },
  });
  const challenges = [without, withToken].map((response) =>
    String(response.headers['www-authenticate'] ?? ''),
  );
  if (without.status !== 401 || !challenges[0]!.startsWith('Bearer')) {
    yield problem(
      `A request without a token returns ${without.status}${challenges[0] ? '' : ' without WWW-Authenticate'}: a proxy responds instead of the server, or removes headers.`,
      proxies,
    );
    return;
  }
  yield /error="invalid_token"/.test(challenges[1]!)
    ? ok('Auth tokens reach the server: the Authorization header is forwarded.')
    : problem('The Authorization header does not reach the server: a proxy removes it.', proxies);
  const idOf = ({ body }: HttpResponse) => /"requestId":"([^"]+)"/.exec(body)?.[1];
  const isCached = idOf(without) !== undefined && idOf(without) === idOf(again);
  yield isCached || Number(again.headers.age ?? 0) > 0
    ? problem(
        'A proxy caches responses and returns them to other clients.',
        `Turn off caching for ${url}/graphql. Responses have Cache-Control: no-store.`,
      )
    : ok('No proxy caches responses.');
}

/** Shortens the message of OpenSSL for a server without TLS, which has two lines. */
function reasonOf(error: unknown): string {
  const { message } = error as Error;
  if (/EPROTO|wrong version number|WRONG_VERSION/i.test(message)) return 'the port does not use TLS';
  return message.split('\n', 1)[0]!;
}
