/** Doctor checks behind proxies. Each proxy has one fault. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import { checkClock } from '../../../server/src/cli/doctor/machine-checks.ts';
import { checkCors, checkServer } from '../../../server/src/cli/doctor/server-checks.ts';
import { createCheckContext, type Findings } from '../../../server/src/cli/doctor/check-context.ts';
import { systemClock } from '../../../server/src/clock.ts';
import { readSettings } from '../../../server/src/config/config.ts';
import { sqlite } from '../../support/databases.ts';
import { Testbed } from '../../support/testbed.ts';

interface Faults {
  readonly changeRequest?: (headers: Record<string, unknown>) => void;
  readonly changeResponse?: (headers: Record<string, unknown>) => void;
  readonly upgrade?: 'refuse' | 'cut' | 'silence';
  readonly cachesResponses?: boolean;
  readonly response?: { readonly status: number; readonly headers: Record<string, string> };
}

const origin = 'https://app.example.com';

describe('a proxy in front of a server', () => {
  let testbed: Testbed;
  const proxies: Server[] = [];
  before(async () => (testbed = await Testbed.start(sqlite, { settings: { CORS_ORIGINS: origin } })));
  after(() => testbed.stop());
  afterEach(() => {
    for (const proxy of proxies.splice(0)) {
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  async function startProxy(faults: Faults): Promise<string> {
    const { port } = new URL(testbed.url);
    const cache = new Map<string, { status: number; headers: Record<string, unknown>; body: Buffer }>();
    const forward = async (incoming: IncomingMessage, response: ServerResponse) => {
      if (faults.response) {
        response.writeHead(faults.response.status, faults.response.headers).end();
        return;
      }
      const { method = 'GET', url = '/' } = incoming;
      const headers: Record<string, unknown> = { ...incoming.headers };
      faults.changeRequest?.(headers);
      let answer = method === 'GET' ? cache.get(url) : undefined;
      if (!answer) {
        const proxyRequest = request({ port, method, path: url, headers: headers as never });
        incoming.pipe(proxyRequest);
        const [serverResponse] = (await once(proxyRequest, 'response')) as [IncomingMessage];
        const responseHeaders: Record<string, unknown> = { ...serverResponse.headers };
        faults.changeResponse?.(responseHeaders);
        const body = Buffer.concat((await serverResponse.toArray()) as Buffer[]);
        answer = { status: serverResponse.statusCode!, headers: responseHeaders, body };
        if (faults.cachesResponses) cache.set(url, answer);
      }
      response.writeHead(answer.status, answer.headers as never).end(answer.body);
    };
    const proxy = createServer((incoming, response) => void forward(incoming, response));
    proxy.on('upgrade', (incoming, socket: Socket, head: Buffer) => {
      if (faults.upgrade === 'refuse') socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n');
      if (faults.upgrade === 'cut') socket.destroy();
      if (faults.upgrade) return;
      const upstream = connect(Number(port), '127.0.0.1', () => {
        const lines = incoming.rawHeaders.flatMap((value, index, all) =>
          index % 2 === 0 ? [`${value}: ${all[index + 1]}`] : [],
        );
        upstream.write([`GET ${incoming.url} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
        upstream.write(head);
        upstream.pipe(socket).pipe(upstream);
      });
      for (const [one, other] of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        one.on('error', () => undefined).on('close', () => other.destroy());
      }
    });
    proxies.push(proxy.listen(0, '127.0.0.1'));
    await once(proxy, 'listening');
    return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  }

  async function runCheck(
    faults: Faults,
    check: (context: ReturnType<typeof createCheckContext>) => Findings,
  ) {
    const url = await startProxy(faults);
    const { settings } = readSettings({ environment: { ESPALIER_DATABASE_URL: testbed.database.url } });
    const texts: string[] = [];
    for await (const { state, text } of check(
      createCheckContext({ clock: systemClock, flags: {}, settings, url }),
    )) {
      if (state !== 'ok' && !/0\.0\.0-test/.test(text)) texts.push(`${state}: ${text}`);
    }
    return texts;
  }

  test('causes no finding if it works correctly', async () => {
    assert.deepEqual(await runCheck({}, checkServer), []);
    assert.deepEqual(await runCheck({}, (context) => checkCors(context, origin)), []);
  });

  for (const [fault, faults, expected] of [
    ['refuses upgrades', { upgrade: 'refuse' }, /problem: The upgrade to a WebSocket at .* returns 400/],
    ['cuts upgrades', { upgrade: 'cut' }, /problem: Cannot open a WebSocket/],
    [
      'removes the Authorization header',
      { changeRequest: (headers) => delete headers['authorization'] },
      /problem: The Authorization header does not reach the server/,
    ],
    [
      'removes WWW-Authenticate',
      { changeResponse: (headers) => delete headers['www-authenticate'] },
      /problem: A request without a token returns 401 without WWW-Authenticate/,
    ],
    ['caches responses', { cachesResponses: true }, /problem: A proxy caches responses/],
    [
      'redirects elsewhere',
      { response: { status: 301, headers: { location: 'https://example.com/' } } },
      /problem: http.* redirects to https:\/\/example\.com\//,
    ],
    ['is another program', { response: { status: 200, headers: {} } }, /problem: .* is not Espalier/],
    [
      'adds its own Server header',
      { changeResponse: (headers) => (headers['server'] = 'nginx') },
      /warning: Requests pass through a proxy \(nginx\), but ESPALIER_TRUST_PROXY/,
    ],
  ] as const satisfies readonly (readonly [string, Faults, RegExp])[]) {
    test(`causes exactly one finding if it ${fault}`, async () => {
      const texts = await runCheck(faults, checkServer);
      assert.equal(texts.length, 1, texts.join('\n'));
      assert.match(texts[0]!, expected);
    });
  }

  for (const [fault, faults, expected] of [
    [
      'responds to OPTIONS itself',
      { response: { status: 204, headers: {} } },
      /no Access-Control-Allow-Origin/,
    ],
    [
      'repeats Access-Control-Allow-Origin',
      { changeResponse: (headers) => (headers['access-control-allow-origin'] = `${origin}, *`) },
      /two values of Access-Control-Allow-Origin/,
    ],
    [
      'hides headers from pages',
      { changeResponse: (headers) => delete headers['access-control-expose-headers'] },
      /problem: Pages of \S+ cannot read the headers token-expired, www-authenticate/,
    ],
  ] as const satisfies readonly (readonly [string, Faults, RegExp])[]) {
    test(`causes a finding for web pages if it ${fault}`, async () => {
      const texts = await runCheck(faults, (context) => checkCors(context, origin));
      assert.equal(texts.length, 1, texts.join('\n'));
      assert.match(texts[0]!, expected);
    });
  }

  test('causes a finding for another origin', async () => {
    const other = 'https://other.example.com';
    const texts = await runCheck({}, (context) => checkCors(context, other));
    assert.match(texts.join(), /^problem: Browsers do not let pages of https:\/\/other/);
  });

  test('causes a finding if its clock differs', async () => {
    const delayDate = (headers: Record<string, unknown>) =>
      (headers['date'] = new Date(Date.now() + 300_000).toUTCString());
    const texts = await runCheck({ changeResponse: delayDate }, checkClock);
    assert.match(
      texts.join(),
      /^problem: The clock of the server at .* is (299|30[01]) seconds ahead of this one/,
    );
  });
});
