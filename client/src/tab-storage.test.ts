import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { tabStorage } from './tab-storage.ts';
import type { Tokens, TokenStorage } from './token-storage.ts';

/** As a browser gives it to each tab, or all tabs of an origin. */
function createArea() {
  const held = new Map<string, string>();
  return {
    getItem: (key: string) => held.get(key) ?? null,
    setItem: (key: string, value: string) => void held.set(key, value),
  };
}

function pair(name: string): Tokens {
  return { authToken: `auth ${name}`, refreshToken: `refresh ${name}`, expiresAt: 0, lifetimeSeconds: 600 };
}

function told(storage: TokenStorage): Promise<Tokens | undefined> {
  return new Promise((resolve) => {
    const stop = storage.onChange!((tokens) => {
      stop();
      resolve(tokens);
    });
  });
}

/** As a machine does that sleeps: nothing runs, and then every timer is over. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Opens tabs that share a session, each with an area of its own unless it is given one. */
function openTabs(context: TestContext, name: string = randomUUID()) {
  return (area = createArea()): TokenStorage => {
    const tab = tabStorage({ name, area });
    context.after(() => tab.close?.());
    return tab;
  };
}

describe('tab storage', { timeout: 30_000 }, () => {
  test('a reload finds the pair again, and a logout is final', async (context) => {
    const open = openTabs(context);
    const area = createArea();
    const tab = open(area);
    assert.equal(await tab.read(), undefined);
    await tab.write(pair('one'));
    tab.close!();
    const reloaded = open(area);
    assert.deepEqual(await reloaded.read(), pair('one'));
    await reloaded.write(undefined);
    reloaded.close!();
    assert.equal(await open(area).read(), undefined);
  });

  test('a tab that finds in the area what another has written is told of it, once', async (context) => {
    const area = createArea();
    const open = openTabs(context);
    const [tab, other] = [open(area), open(area)];
    await tab.write(pair('one'));
    assert.deepEqual(await other.read(), pair('one'));
    const news: (string | undefined)[] = [];
    other.onChange!((tokens) => news.push(tokens?.authToken));
    const { setItem } = area;
    let reading: unknown;
    area.setItem = (key, value) => {
      setItem(key, value);
      // Before a message can come.
      reading ??= other.read();
    };
    await tab.write(undefined);
    assert.equal(await reading, undefined);
    assert.deepEqual(news, [undefined]);
    const later = told(other);
    await tab.write(pair('two'));
    await later;
    assert.deepEqual(news, [undefined, 'auth two']);
  });

  test('what is no pair is passed over, in the area and in the channel', async (context) => {
    const name = randomUUID();
    const area = createArea();
    const tab = openTabs(context, name)(area);
    await tab.write(pair('one'));
    const stranger = new BroadcastChannel(`espalier:${name}`);
    context.after(() => stranger.close());
    const at = Number.MAX_SAFE_INTEGER;
    const tokens = { authToken: 1 };
    for (const kept of [null, { at: Infinity }, { at, tokens: null }, { at, tokens }]) {
      stranger.postMessage(kept);
      stranger.postMessage({ from: 'stranger', kept });
      area.setItem(`espalier:${name}`, JSON.stringify(kept));
      assert.deepEqual(await tab.read(), pair('one'));
    }
    const later = told(tab);
    stranger.postMessage({ from: 'stranger', kept: { at, tokens: pair('two') } });
    assert.deepEqual(await later, pair('two'));
  });

  test('a pair that is written after the close is told to the others, and the channel does not stay', async (context) => {
    const open = openTabs(context);
    const [tab, other] = [open(), open()];
    await tab.write(pair('one'));
    assert.deepEqual(await other.read(), pair('one'));
    tab.close!();
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const closes = context.mock.method(BroadcastChannel.prototype, 'close').mock;
    const news = told(other);
    await tab.write(pair('two'));
    assert.deepEqual(await news, pair('two'));
    context.mock.timers.tick(10_000);
    assert.equal(closes.callCount(), 1);
  });

  test('a new tab is given the pair of the others, and all are told of what is written', async (context) => {
    const open = openTabs(context);
    const [first, second] = [open(), open()];
    await first.write(pair('one'));
    assert.deepEqual(await second.read(), pair('one'));
    const third = open();
    assert.deepEqual(await third.read(), pair('one'));
    const news = [first, second].map(told);
    await third.write(pair('two'));
    assert.deepEqual(await Promise.all(news), [pair('two'), pair('two')]);
    const farewells = [first, third].map(told);
    await second.write(undefined);
    assert.deepEqual(await Promise.all(farewells), [undefined, undefined]);
    assert.equal(await first.read(), undefined);
  });

  test('tabs that work at the same instant are alone, and see what the one before has written', async (context) => {
    const open = openTabs(context);
    const tabs = [open(), open(), open()];
    await tabs[0]!.write(pair('0'));
    await Promise.all(tabs.map(async (tab) => tab.read()));
    let inside = 0;
    const exchange = (tab: TokenStorage) =>
      tab.lock!(async () => {
        assert.equal(++inside, 1);
        const { authToken } = (await tab.read())!;
        const next = String(Number(authToken.slice(5)) + 1);
        await tab.write(pair(next));
        inside--;
        return next;
      });
    for (let round = 0; round < 20; round++) {
      const numbers = await Promise.all(tabs.map(exchange));
      assert.deepEqual(
        numbers.map(Number).sort((one, other) => one - other),
        [1, 2, 3].map((number) => round * 3 + number),
      );
    }
  });

  test('tabs that stood still hear what the others answer before they give up', async (context) => {
    const open = openTabs(context);
    const [tab, other] = [open(), open()];
    await tab.write(pair('one'));
    assert.deepEqual(await other.read(), pair('one'));
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the channel below
    const { postMessage } = BroadcastChannel.prototype;
    context.mock.method(
      BroadcastChannel.prototype,
      'postMessage',
      function (this: InstanceType<typeof BroadcastChannel>, message: { asks?: string; answers?: string }) {
        // What nobody asked for is lost.
        if (!message.asks && !message.answers) return;
        postMessage.call(this, message);
        standStill(510);
      },
    );
    await tab.write(pair('two'));
    assert.deepEqual(await other.lock!(() => Promise.resolve(other.read())), pair('two'));
  });

  test('what the work throws comes out, and the lock is free again', async (context) => {
    const tab = openTabs(context)();
    await assert.rejects(
      tab.lock!(() => Promise.reject(new Error('Mistake.'))),
      /Mistake/,
    );
    assert.equal(await tab.lock!(() => Promise.resolve(1)), 1);
  });

  test('a lock that somebody does not give back is waited for ten seconds', async (context) => {
    const name = randomUUID();
    const tab = openTabs(context, name)();
    await tab.read();
    const given = Promise.withResolvers<void>();
    const { locks } = navigator as unknown as {
      locks: { request(name: string, work: () => unknown): unknown };
    };
    const hanging = Promise.withResolvers<void>();
    context.after(() => hanging.resolve());
    void locks.request(`espalier:${name}`, () => {
      given.resolve();
      return hanging.promise;
    });
    await given.promise;
    context.mock.timers.enable({ apis: ['setTimeout'] });
    let isDone = false;
    const working = tab.lock!(() => Promise.resolve((isDone = true)));
    context.mock.timers.tick(9_999);
    assert.equal(isDone, false);
    context.mock.timers.tick(1);
    assert.equal(await working, true);
  });

  test('a tab that comes back with an old pair does not take the place of a newer one', async (context) => {
    const name = randomUUID();
    const back = new BroadcastChannel(`espalier:${name}`);
    context.after(() => back.close());
    const tab = openTabs(context, name)();
    await tab.write(pair('new'));
    const question = randomUUID();
    const answered = new Promise<unknown>((resolve) => {
      back.onmessage = ({ data }: { data: { answers?: string; kept: { tokens: Tokens } } }) => {
        if (data.answers === question) resolve(data.kept.tokens);
      };
    });
    back.postMessage({ from: 'back', kept: { at: 1, tokens: pair('old') }, asks: question });
    assert.deepEqual(await answered, pair('new'));
    assert.deepEqual(await tab.read(), pair('new'));
  });

  test('works on its own where the browser gives it nothing, or throws', async (context) => {
    const forbidden = () => {
      throw new Error('SecurityError');
    };
    const globals = ['BroadcastChannel', 'navigator', 'sessionStorage'] as const;
    const kept = globals.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
    context.after(() =>
      globals.forEach((name, index) => {
        if (kept[index]) Object.defineProperty(globalThis, name, kept[index]);
        else Reflect.deleteProperty(globalThis, name);
      }),
    );
    for (const name of globals)
      Object.defineProperty(globalThis, name, { configurable: true, value: undefined });
    Object.defineProperty(globalThis, 'sessionStorage', { configurable: true, get: forbidden });
    for (const area of [undefined, { getItem: forbidden, setItem: forbidden }]) {
      const tab = tabStorage({ area });
      assert.equal(await tab.read(), undefined);
      await tab.write(pair('one'));
      assert.deepEqual(await tab.lock!(() => Promise.resolve(tab.read())), pair('one'));
    }
  });
});
