/** Checks that a server responds and is Espalier, and that its proxyFix pass requests, responses, WebSockets and web pages unchanged. */

import { connect as connectTls } from 'node:tls';
import type { ProbeResponse } from '@espalier/contract';
import { WebSocket } from 'ws';
import type { Clock } from '../../clock.ts';
import { version } from '../package-files.ts';
import {
  type CheckContext,
  type Finding,
  type Findings,
  type HttpResponse,
  isEspalierAlive,
  jsonOf,
  ok,
  problem,
  responds,
  sendRequest,
  skipped,
  warning,
} from './check-context.ts';
import { checkAge } from './machine-checks.ts';

const withoutTls = 'the port does not use TLS';
const connectWithinMs = 10_000;
const proxyFix = "Correct the configuration of the proxy. Run 'espalier docs reverse-proxy' for examples.";

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
    alive = await server.readLiveness();
  } catch (error) {
    const reason = reasonOf(error);
    const text = `No server responds at ${url}: ${reason}.`;
    const advice =
      reason === withoutTls
        ? `Use ${url.replace(/^https:/, 'http:')}, or set ESPALIER_TLS_CERT_FILE and ESPALIER_TLS_KEY_FILE.`
        : 'Make sure that the server runs, that host, port and path are right, and that no firewall blocks it.';
    yield server.isExplicit
      ? problem(text, advice)
      : skipped(`${text} Start it, or specify another server with --url <url>.`);
    return;
  }
  yield* checkKind(clock, url, alive);
  if (!isEspalierAlive(alive)) return;
  yield* checkReadiness(clock, url);
  if (url.startsWith('https:')) yield* checkCertificate(clock, url, server.isExplicit);
  yield* checkTokens(clock, url);
  yield* checkSocket(url, {});
  const proxy = alive.headers.via ?? alive.headers['server'];
  if (proxy !== undefined && settings.trustProxy === false) {
    yield warning(
      `Requests pass through a proxy (${String(proxy)}), but ESPALIER_TRUST_PROXY is not set. All clients then have the address of the proxy and share one login throttle.`,
      'Set ESPALIER_TRUST_PROXY to the address of the proxy, if these are the settings of that server.',
    );
  }
}

async function* checkKind(clock: Clock, url: string, alive: HttpResponse): Findings {
  const { status, headers } = alive;
  if (status >= 300 && status < 400) {
    yield problem(`${url} redirects to ${headers.location ?? ''}.`, 'Use the address that it redirects to.');
    return;
  }
  if (!isEspalierAlive(alive)) {
    yield problem(
      `The program at ${url} is not Espalier: /livez did not return the expected response (status ${status}).`,
      'Use the API address that the server prints when it starts, including ESPALIER_BASE_PATH.',
    );
    return;
  }
  const { body } = await sendRequest(clock, `${url}/openapi.json`);
  const info = jsonOf<{ info: { title?: string; version?: string } }>(body)?.info;
  if (info?.title !== 'Espalier') {
    yield problem(`The server at ${url} does not identify itself as Espalier.`, proxyFix);
  } else if (info.version === version()) {
    yield ok(`Espalier ${info.version} responds at ${url}.`);
  } else {
    yield warning(
      `Espalier ${info.version} responds at ${url}, but this program has version ${version()}.`,
      'Install the same version of the server and of this program.',
    );
  }
}

async function* checkReadiness(clock: Clock, url: string): Findings {
  const { status, body } = await sendRequest(clock, `${url}/readyz?verbose`);
  const found = jsonOf<ProbeResponse & { detail: string }>(body);
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

/** Checks the certificate that clients receive, which may be the certificate of a proxy. */
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
    yield checkAge({ validFrom, validTo }, clock);
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

/** Checks whether headers pass through proxyFix in both directions, and whether responses are current. */
async function* checkTokens(clock: Clock, url: string): Findings {
  const address = `${url}/graphql?query=%7B__typename%7D`;
  // A different request, so that a proxy cannot return the cached response to the first one.
  const otherAddress = `${url}/graphql?query=%7Bfolder%7Bid%7D%7D`;
  const headers = { accept: 'application/json' };
  const firstResponse = await sendRequest(clock, address, { headers });
  const secondResponse = await sendRequest(clock, address, { headers });
  const tokenResponse = await sendRequest(clock, otherAddress, {
    headers: { ...headers, authorization: 'Bearer none' },
  });
  const challenges = [firstResponse, tokenResponse].map((response) =>
    String(response.headers['www-authenticate'] ?? ''),
  );
  if (firstResponse.status !== 401 || !challenges[0]!.startsWith('Bearer')) {
    yield problem(
      `A request without a token returns ${firstResponse.status}${challenges[0] ? '' : ' without WWW-Authenticate'}: a proxy responds instead of the server, or removes headers.`,
      proxyFix,
    );
    return;
  }
  yield /error="invalid_token"/.test(challenges[1]!)
    ? ok('Auth tokens reach the server: the Authorization header is forwarded.')
    : problem('The Authorization header does not reach the server: a proxy removes it.', proxyFix);
  const idOf = ({ body }: HttpResponse) => /"requestId":"([^"]+)"/.exec(body)?.[1];
  const isCached = idOf(firstResponse) !== undefined && idOf(firstResponse) === idOf(secondResponse);
  yield isCached || Number(secondResponse.headers.age ?? 0) > 0
    ? problem(
        'A proxy caches responses and returns them to other clients.',
        `Turn off caching for ${url}/graphql. Responses have Cache-Control: no-store.`,
      )
    : ok('No proxy caches responses.');
}

/** Shortens the two-line message of OpenSSL about a server without TLS. */
function reasonOf(error: unknown): string {
  const { message } = error as Error;
  if (/EPROTO|wrong version number|WRONG_VERSION/i.test(message)) return withoutTls;
  return message.split('\n', 1)[0]!;
}

const responseTimeoutMs = 10_000;
const subProtocol = 'graphql-transport-ws';
const socketFix =
  "The proxy must use HTTP/1.1 to the server and forward the headers Upgrade and Connection. Run 'espalier docs reverse-proxy' for examples.";

export async function* checkSocket(url: string, { origin }: { readonly origin?: string }): Findings {
  const address = `${url.replace(/^http/, 'ws')}/graphql`;
  yield await new Promise<Finding>((resolve) => {
    const socket = new WebSocket(address, subProtocol, {
      handshakeTimeout: responseTimeoutMs,
      rejectUnauthorized: false,
      ...(origin !== undefined && { origin }),
    });
    const timer = setTimeout(
      () => done(problem(`The WebSocket at ${address} opens, but no message arrives.`, socketFix)),
      responseTimeoutMs,
    );
    const done = (finding: Finding) => {
      clearTimeout(timer);
      resolve(finding);
      socket.terminate();
    };
    socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init' })));
    socket.once('message', () => done(ok(`WebSockets work at ${address}.`)));
    // The server closes a socket without a token with these codes.
    socket.once('close', (code) =>
      done(
        code === 4403 || code === 4401
          ? ok(`WebSockets work at ${address}.`)
          : problem(
              `The WebSocket at ${address} was closed with ${code}, which the server does not use here.`,
              socketFix,
            ),
      ),
    );
    socket.once('unexpected-response', (_, { statusCode = 0 }) =>
      done(describeUpgradeFailure(address, statusCode, origin)),
    );
    socket.once('error', (error) =>
      done(problem(`Cannot open a WebSocket at ${address}: ${error.message}.`, socketFix)),
    );
  });
}

function describeUpgradeFailure(address: string, status: number, origin: string | undefined): Finding {
  if (status === 403 && origin !== undefined) {
    return problem(
      `Pages of ${origin} may not open WebSockets at ${address}.`,
      `Add ${origin} to ESPALIER_CORS_ORIGINS.`,
    );
  }
  return problem(`The upgrade to a WebSocket at ${address} returns ${status}.`, socketFix);
}

const requestHeaders = ['authorization', 'content-type'];
const responseHeaders = ['token-expired', 'www-authenticate'];

export async function* checkCors({ clock, server }: CheckContext, origin: string): Findings {
  const { url } = server;
  if (url === undefined || !(await responds(server))) {
    yield problem('No server responds, so CORS cannot be checked.', 'Specify a server with --url.');
    return;
  }
  const isOwn = new URL(url).origin === origin;
  if (isOwn) {
    yield ok(`${origin} is the origin of the server itself: browsers do not restrict its pages.`);
  } else {
    const preflight = await sendRequest(clock, `${url}/graphql`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': requestHeaders.join(','),
      },
    });
    const preflightFinding = checkPreflight(preflight, origin);
    yield preflightFinding;
    if (preflightFinding.state !== 'ok') return;
    const response = await sendRequest(clock, `${url}/graphql`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: '{"query":"{__typename}"}',
    });
    yield checkResponseHeaders(response, origin);
  }
  yield* checkSocket(url, { origin });
}

function checkPreflight(response: HttpResponse, origin: string): Finding {
  const fault = findOriginFault(response, origin);
  if (response.status >= 300 || fault) {
    return problem(
      `Browsers do not let pages of ${origin} call the server: the preflight request (OPTIONS) returns ${response.status}${fault ? ` with ${fault}` : ''}.`,
      `Add ${origin} to ESPALIER_CORS_ORIGINS, and make sure that a proxy forwards OPTIONS requests.`,
    );
  }
  const methods = listOf(response, 'access-control-allow-methods');
  const headers = listOf(response, 'access-control-allow-headers');
  const missing = requestHeaders.filter((name) => !headers.includes(name));
  if (!methods.includes('post') || missing.length > 0) {
    return problem(
      `Pages of ${origin} may not send ${[...(methods.includes('post') ? [] : ['POST']), ...missing].join(', ')}.`,
      'A proxy responds instead of the server, or changes its headers. Correct its configuration.',
    );
  }
  return ok(`Pages of ${origin} may call the server.`);
}

function checkResponseHeaders(response: HttpResponse, origin: string): Finding {
  const fault = findOriginFault(response, origin);
  if (fault) {
    return problem(
      `Pages of ${origin} may call the server but cannot read the response: it has ${fault}.`,
      'A proxy changes the headers. Correct its configuration.',
    );
  }
  const exposed = listOf(response, 'access-control-expose-headers');
  const missing = responseHeaders.filter((name) => !exposed.includes(name));
  return missing.length === 0
    ? ok(`Pages of ${origin} can distinguish an expired token from an invalid one.`)
    : problem(
        `Pages of ${origin} cannot read the headers ${missing.join(', ')}.`,
        'A proxy changes the headers. Correct its configuration.',
      );
}

/** Browsers accept exactly one value. */
function findOriginFault({ headers }: HttpResponse, origin: string): string | undefined {
  const allowed = headers['access-control-allow-origin'];
  if (allowed === undefined) return 'no Access-Control-Allow-Origin';
  if (allowed.includes(',')) return `two values of Access-Control-Allow-Origin (${allowed})`;
  return allowed === origin || allowed === '*'
    ? undefined
    : `Access-Control-Allow-Origin for ${allowed} only`;
}

function listOf({ headers }: HttpResponse, name: string): string[] {
  return String(headers[name] ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase());
}
