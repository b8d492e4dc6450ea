/** Tests the login through a browser with a scripted server. The test requests the redirect address like a browser. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, mock, test, type TestContext } from 'node:test';
import { createClient, memoryStorage } from '@espalier/client';
import { describeFailure } from '../failures.ts';
import { logInWithBrowser } from './single-sign-on.ts';

const url = 'http://server.test';
const methods = { password: true, singleSignOn: { name: 'Acme' }, passkeys: false };
const tokens = { authToken: 'a', refreshToken: 'r', expires_in: 600 };
const problem = (code: string, status: number) => Response.json({ code, detail: 'Refused.' }, { status });

interface Script {
  readonly loginMethods?: object;
  readonly exchange?: () => Response;
  readonly viewer?: () => Response;
}

function createScriptedClient({ loginMethods = methods, exchange, viewer }: Script) {
  const sent: { path: string; body: Record<string, string> }[] = [];
  const replies: Readonly<Record<string, () => Response>> = {
    '/login/methods': () => Response.json(loginMethods),
    '/login/sso': exchange ?? (() => Response.json(tokens)),
    '/graphql': viewer ?? (() => Response.json({ data: { viewer: { user: { username: 'ada' } } } })),
    '/logout': () => new Response(null, { status: 204 }),
  };
  const send: typeof fetch = (input, { body } = {}) => {
    const path = (input as string).slice(url.length);
    sent.push({ path, body: body ? (JSON.parse(body as string) as Record<string, string>) : {} });
    return Promise.resolve(replies[path]!());
  };
  const storage = memoryStorage();
  return { client: createClient({ url, storage, fetch: send, retrySeconds: 0 }), sent, storage };
}

/** Starts a login whose browser returns with the query, and waits for the end of both. */
async function logIn(context: TestContext, script: Script, query: (challenge: string) => string) {
  const { client, sent, storage } = createScriptedClient(script);
  const { promise: printed, resolve: print } = Promise.withResolvers<void>();
  // The address is printed as soon as the port is open.
  const { mock: printing } = mock.method(console, 'error', () => print());
  context.after(() => mock.restoreAll());
  const signal = new AbortController().signal;
  const loggingIn = logInWithBrowser(client, { opensBrowser: false, signal });
  const result = loggingIn.then(
    (username) => ({ username, failure: undefined }),
    (error: unknown) => ({ username: undefined, failure: describeFailure(error) }),
  );
  await Promise.race([result, printed]);
  const text = printing.calls.flatMap(({ arguments: words }) => words as string[]).join('\n');
  const [address] = /http:\S+/.exec(text) ?? [];
  let page: string | undefined;
  let challenge: string | undefined;
  if (address) {
    const { searchParams } = new URL(address);
    challenge = searchParams.get('challenge')!;
    page = await (await fetch(`${searchParams.get('redirect_uri')!}?${query(challenge)}`)).text();
  }
  return { ...(await result), text, page, challenge, sent, storage };
}

describe('a login through a browser', { timeout: 30_000 }, () => {
  test('exchanges the code with the verifier of its challenge', async (context) => {
    const { username, text, page, challenge, sent, storage } = await logIn(
      context,
      {},
      () => 'code=one-time',
    );
    assert.equal(username, 'ada');
    assert.match(text, /^Log in with Acme in your browser:\n\n {2}http:\/\/server\.test\/login\/sso\?/);
    assert.match(page!, /You are logged in/);
    const { body } = sent.find(({ path }) => path === '/login/sso')!;
    assert.equal(body['code'], 'one-time');
    assert.equal(createHash('sha256').update(body['verifier']!).digest('base64url'), challenge);
    assert.ok(!text.includes(body['verifier']!), 'the verifier is not printed');
    assert.equal((await storage.read())?.authToken, 'a');
  });

  test('fails before it opens a port if the server has no single sign-on', async (context) => {
    const loginMethods = { ...methods, singleSignOn: null };
    const { failure, text } = await logIn(context, { loginMethods }, () => '');
    assert.equal(text, '');
    assert.deepEqual([failure!.exitCode, failure!.code], [1, 'BAD_INPUT']);
    assert.match(failure!.message!, /does not offer single sign-on\. Run 'espalier login'/);
  });

  test('reports the error of the redirect, without control characters', async (context) => {
    const query = (error: string, about: string) => () =>
      new URLSearchParams({ error, error_description: about }).toString();
    const refused = await logIn(context, {}, query('INVALID_CREDENTIALS', 'You are unknown.\u001b[2J'));
    assert.deepEqual([refused.failure!.exitCode, refused.failure!.code], [3, 'INVALID_CREDENTIALS']);
    assert.match(refused.failure!.message!, /^You are unknown\.\\u/);
    assert.match(refused.page!, /The login failed/);
    assert.ok(!refused.sent.some(({ path }) => path === '/login/sso'));
    mock.restoreAll();
    const down = await logIn(context, {}, query('UNAVAILABLE', ''));
    assert.deepEqual([down.failure!.exitCode, down.failure!.code], [4, 'UNAVAILABLE']);
    assert.match(down.failure!.message!, /Try again/);
  });

  test('fails if the server refuses the code, and the page of the browser says so', async (context) => {
    const exchange = () => problem('INVALID_CREDENTIALS', 401);
    const { failure, page, storage } = await logIn(context, { exchange }, () => 'code=forged');
    assert.equal(failure!.exitCode, 3);
    assert.match(page!, /The login failed/);
    assert.equal(await storage.read(), undefined);
  });

  test('ends the session if it cannot read the name of the user', async (context) => {
    const viewer = () => problem('INTERNAL', 500);
    const { failure, sent, storage } = await logIn(context, { viewer }, () => 'code=one-time');
    assert.equal(failure!.exitCode, 1);
    assert.equal(sent.at(-1)!.path, '/logout');
    assert.equal(await storage.read(), undefined);
  });

  test('ends after a time without a return of the browser, and immediately on Ctrl-C', async (context) => {
    const controllers = [new AbortController(), new AbortController()];
    const [timeout, signal] = controllers.map((controller) => controller.signal);
    const prints = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { mock: printing } = mock.method(console, 'error', () => prints[printing.callCount()]!.resolve());
    context.after(() => mock.restoreAll());
    const start = (options: { signal: AbortSignal; timeout: AbortSignal }) =>
      logInWithBrowser(createScriptedClient({}).client, { opensBrowser: false, ...options });
    const never = new AbortController().signal;
    const slow = start({ signal: never, timeout: timeout! }).catch(describeFailure);
    const canceled = assert.rejects(start({ signal: signal!, timeout: never }), /^AbortError/);
    await Promise.all(prints.map(({ promise }) => promise));
    for (const controller of controllers) controller.abort();
    const { exitCode, code, message } = (await slow) as ReturnType<typeof describeFailure>;
    assert.deepEqual([exitCode, code], [3, 'TIMEOUT']);
    assert.match(message!, /did not return within 5 minutes\. Run 'espalier login --sso' again/);
    await canceled;
  });
});
