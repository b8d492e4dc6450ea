import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { Client as SocketClient } from 'graphql-ws';
import type { Client } from '../client.ts';
import { EspalierError } from '../errors.ts';
import { apolloOptions } from './apollo.ts';
import { authorizedFetch } from './authorized-fetch.ts';
import { urqlOptions } from './urql.ts';

const url = 'https://example.com/espalier';

interface SentRequest {
  readonly url: string;
  readonly authorization: string | null;
  readonly body: string;
}

/** Creates a client with numbered tokens, and a `fetch` that returns these responses in order. */
function createScriptedClient(responses: readonly (() => Response)[] = []) {
  const sent: SentRequest[] = [];
  const refusedTokens: string[] = [];
  const sink: { current?: Parameters<SocketClient['subscribe']>[1] } = {};
  const payloads: unknown[] = [];
  const socket = {
    subscribe: (payload: unknown, observer: Parameters<SocketClient['subscribe']>[1]) => {
      payloads.push(payload);
      sink.current = observer;
      return () => void payloads.push('unsubscribed');
    },
  } as unknown as SocketClient;
  const client = {
    url,
    authToken({ refused }: { refused?: string } = {}) {
      if (refused) refusedTokens.push(refused);
      return Promise.resolve(`token ${refusedTokens.length}`);
    },
    socket,
  } as unknown as Client;
  const send = (async (request: Request) => {
    const respond = responses[sent.length] ?? (() => new Response('ok'));
    sent.push({
      url: request.url,
      authorization: request.headers.get('authorization'),
      body: await request.text(),
    });
    return respond();
  }) as typeof fetch;
  return { client, send, sent, refusedTokens, socket, payloads, sink };
}

const unauthorized = (headers?: Record<string, string>) => () =>
  new Response('no', { status: 401, ...(headers && { headers }) });

describe('authorizedFetch()', () => {
  test('sends the token to the server of its client for every form of input', async () => {
    const { client, send, sent } = createScriptedClient();
    const fetchWithToken = authorizedFetch(client, send);
    const init = { method: 'POST', body: 'question' };
    await fetchWithToken(`${url}/graphql`, init);
    await fetchWithToken(new URL(`${url}/graphql`), init);
    await fetchWithToken(new Request(`${url}/graphql`, init));
    await fetchWithToken(url);
    const one = { url: `${url}/graphql`, authorization: 'Bearer token 0', body: 'question' };
    assert.deepEqual(sent, [one, one, one, { url, authorization: 'Bearer token 0', body: '' }]);
  });

  test('never sends the token to another address', async () => {
    const { client, send, sent } = createScriptedClient();
    const elsewhere = [
      'http://example.com/espalier/graphql',
      'https://example.com:8443/espalier/graphql',
      'https://example.org/espalier/graphql',
      'https://example.com.evil.org/espalier/graphql',
      'https://example.com/',
      'https://example.com/espalier2/graphql',
      'https://example.com/espalier/../other',
      'https://example.com/espalier/%2e%2e/other',
    ];
    for (const address of elsewhere) {
      const fetchWithToken = authorizedFetch(client, send);
      for (const input of [address, new URL(address), new Request(address)]) await fetchWithToken(input);
    }
    assert.equal(sent.length, elsewhere.length * 3);
    assert.deepEqual(new Set(sent.map(({ authorization }) => authorization)), new Set([null]));
  });

  test('sends the whole request again with a new token when the token has expired', async () => {
    const { client, send, sent, refusedTokens } = createScriptedClient([
      unauthorized({ 'token-expired': 'true' }),
    ]);
    const response = await authorizedFetch(client, send)(`${url}/graphql`, {
      method: 'POST',
      body: 'question',
    });
    assert.equal(await response.text(), 'ok');
    assert.deepEqual(refusedTokens, ['token 0']);
    assert.deepEqual(
      sent.map(({ authorization, body }) => [authorization, body]),
      [
        ['Bearer token 0', 'question'],
        ['Bearer token 1', 'question'],
      ],
    );
  });

  test('returns a 401 that a new token does not fix', async () => {
    const otherReason = createScriptedClient([unauthorized()]);
    assert.equal((await authorizedFetch(otherReason.client, otherReason.send)(url)).status, 401);
    assert.equal(otherReason.sent.length, 1);
    const expiry = unauthorized({ 'token-expired': 'true' });
    const secondRefusal = createScriptedClient([expiry, expiry, expiry]);
    assert.equal((await authorizedFetch(secondRefusal.client, secondRefusal.send)(url)).status, 401);
    assert.equal(secondRefusal.sent.length, 2);
  });

  test('rejects when the session has ended, whatever reason the response gives', async () => {
    for (const headers of [undefined, { 'token-expired': 'true' }]) {
      const { client, send, sent } = createScriptedClient([unauthorized(headers)]);
      const sessionEnded = new EspalierError('LOGGED_OUT', 'The session has ended. Log in again.');
      const authToken: Client['authToken'] = ({ refused: token } = {}) =>
        token ? Promise.reject(sessionEnded) : Promise.resolve('token');
      await assert.rejects(authorizedFetch({ ...client, authToken }, send)(url), sessionEnded);
      assert.equal(sent.length, 1);
    }
  });

  test('does not send the token to the target of a redirect', async () => {
    const received: (string | undefined)[] = [];
    const listen = async (listener: RequestListener) => {
      const server = createServer(listener).listen(0, '127.0.0.1');
      await once(server, 'listening');
      return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    };
    const other = await listen((request, response) => {
      received.push(request.headers.authorization);
      response.end();
    });
    const own = await listen((request, response) => {
      received.push(request.headers.authorization);
      response.writeHead(307, { location: other.url }).end();
    });
    const { client } = createScriptedClient();
    await authorizedFetch({ ...client, url: own.url })(own.url);
    for (const { server } of [own, other]) server.close();
    assert.deepEqual(received, ['Bearer token 0', undefined]);
  });
});

describe('urqlOptions()', () => {
  test('forwards subscriptions and their results, and unsubscribes', () => {
    const { client, payloads, sink } = createScriptedClient();
    const options = urqlOptions({ ...client });
    assert.equal(options.url, `${url}/graphql`);
    assert.equal(options.preferGetMethod, false);
    const received: unknown[] = [];
    const subscription = options
      .forwardSubscription({ query: 'subscription', variables: { id: 1 } })
      .subscribe({
        next: (value) => received.push(value),
        error: (error) => received.push(error),
        complete: () => received.push('complete'),
      });
    sink.current!.next({ data: {} });
    sink.current!.error('error');
    sink.current!.complete();
    subscription.unsubscribe();
    assert.deepEqual(received, [{ data: {} }, 'error', 'complete']);
    assert.deepEqual(payloads, [
      { query: 'subscription', variables: { id: 1 }, operationName: undefined, extensions: undefined },
      'unsubscribed',
    ]);
  });
});

describe('apolloOptions()', () => {
  test('returns the address, a fetch and the socket', () => {
    const { client, socket } = createScriptedClient();
    const options = apolloOptions(client);
    assert.deepEqual([options.uri, options.wsClient], [`${url}/graphql`, socket]);
    assert.equal(typeof options.fetch, 'function');
  });
});

describe('the options of both adapters', () => {
  test('use the `send` argument as fetch', async () => {
    const { client, send, sent } = createScriptedClient();
    for (const options of [apolloOptions(client, send), urqlOptions(client, send)]) {
      await options.fetch(`${url}/graphql`);
    }
    assert.deepEqual(
      sent.map(({ authorization }) => authorization),
      ['Bearer token 0', 'Bearer token 0'],
    );
  });
});
