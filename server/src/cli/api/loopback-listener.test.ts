import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { LoopbackListener } from './loopback-listener.ts';

const never = new AbortController().signal;

async function startListener(context: TestContext): Promise<LoopbackListener> {
  const listener = await LoopbackListener.start();
  context.after(() => listener.close());
  return listener;
}

/** `fetch` cannot replace the Host header. */
async function statusWithHost(url: string, host: string): Promise<number | undefined> {
  const sent = request(url, { headers: { host } }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

describe('the listener for the return of a browser', { timeout: 30_000 }, () => {
  test('has a random port and a random path', async (context) => {
    const listeners = [await startListener(context), await startListener(context)];
    for (const { redirectUri, port } of listeners) {
      assert.match(redirectUri, new RegExp(`^http://127\\.0\\.0\\.1:${port}/[\\w-]{22}$`));
    }
    assert.notEqual(new URL(listeners[0]!.redirectUri).pathname, new URL(listeners[1]!.redirectUri).pathname);
  });

  test('receives the code, and shows the result on a page that runs nothing', async (context) => {
    const listener = await startListener(context);
    const browser = fetch(`${listener.redirectUri}?code=abc-123`);
    const { value, answer } = await listener.receive(never);
    assert.deepEqual(value, { code: 'abc-123' });
    await answer(true);
    const response = await browser;
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-security-policy')!, /^default-src 'none'/);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
    const page = await response.text();
    assert.match(page, /You can close this window/);
    assert.doesNotMatch(page, /abc-123/);
  });

  test('receives an error, and never shows its text on the page', async (context) => {
    const listener = await startListener(context);
    const text = '<script>alert(1)</script>';
    const query = new URLSearchParams({ error: 'FORBIDDEN', error_description: text });
    const browser = fetch(`${listener.redirectUri}?${query.toString()}`);
    const { value, answer } = await listener.receive(never);
    assert.deepEqual(value, { error: 'FORBIDDEN', about: text });
    await answer(false);
    const page = await (await browser).text();
    assert.match(page, /The login failed.*The terminal shows the reason/s);
    assert.doesNotMatch(page, /script/);
  });

  test('rejects requests with a wrong path, host or method, and still receives the code afterwards', async (context) => {
    const listener = await startListener(context);
    const { redirectUri, port } = listener;
    const { origin, pathname } = new URL(redirectUri);
    for (const path of ['/', '/favicon.ico', `${pathname}x`, `${pathname}/`, `/x${pathname}`, '//']) {
      assert.equal((await fetch(`${origin}${path}?code=forged`)).status, 404, path);
    }
    for (const host of ['attacker.test', `attacker.test:${port}`, `localhost:${port}`]) {
      assert.equal(await statusWithHost(`${redirectUri}?code=forged`, host), 404, host);
    }
    for (const method of ['POST', 'PUT', 'HEAD', 'OPTIONS']) {
      const response = await fetch(`${redirectUri}?code=forged`, { method });
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET'], method);
      assert.equal(response.headers.get('access-control-allow-origin'), null);
    }
    for (const query of ['', '?code=', '?code=a&code=b', '?state=a', `?code=${'a'.repeat(513)}`, '?error=']) {
      assert.equal((await fetch(redirectUri + query)).status, 400, query);
    }
    const browser = fetch(`${redirectUri}?code=real`);
    const { value, answer } = await listener.receive(never);
    assert.deepEqual(value, { code: 'real' });
    await answer(true);
    await browser;
  });

  test('receives only one code', async (context) => {
    const listener = await startListener(context);
    const first = fetch(`${listener.redirectUri}?code=first`);
    const { value, answer } = await listener.receive(never);
    const second = await fetch(`${listener.redirectUri}?code=second`);
    assert.equal(second.status, 410);
    assert.deepEqual(value, { code: 'first' });
    await answer(true);
    await first;
  });

  test('stops waiting when its signal is aborted, and closes its port with open connections', async () => {
    const listener = await LoopbackListener.start();
    const idle = connect(listener.port, '127.0.0.1');
    await once(idle, 'connect');
    const controller = new AbortController();
    const received = listener.receive(controller.signal);
    controller.abort(new Error('stopped'));
    await assert.rejects(received, /stopped/);
    await assert.rejects(listener.receive(controller.signal), /stopped/);
    await Promise.all([once(idle, 'close'), listener.close()]);
    await assert.rejects(fetch(listener.redirectUri));
  });

  test('answers a browser that has gone without waiting for it', async (context) => {
    const listener = await startListener(context);
    const controller = new AbortController();
    const browser = fetch(`${listener.redirectUri}?code=a`, { signal: controller.signal });
    const { answer } = await listener.receive(never);
    controller.abort();
    await assert.rejects(browser);
    await answer(true);
  });
});
