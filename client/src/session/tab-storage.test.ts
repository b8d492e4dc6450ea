import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { tabStorage } from './tab-storage.ts';
import type { Tokens, TokenStorage } from './token-storage.ts';

/** A storage area like `sessionStorage` or `localStorage`. */
function createArea() {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  };
}

function tokensOf(name: string): Tokens {
  return { authToken: `auth ${name}`, refreshToken: `refresh ${name}`, expiresAt: 0, lifetimeSeconds: 600 };
}

function nextChange(storage: TokenStorage): Promise<Tokens | undefined> {
  return new Promise((resolve) => {
    const stop = storage.onChange!((tokens) => {
      stop();
      resolve(tokens);
    });
  });
}

/** Blocks the thread like a suspended machine: afterwards every timer has expired. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Opens tabs that share a session. Each has its own area unless the test passes one. */
function openTabs(context: TestContext, name: string = randomUUID()) {
  return (area = createArea()): TokenStorage => {
    const tab = tabStorage({ name, area });
    context.after(() => tab.close?.());
    return tab;
  };
}

describe('tab storage', { timeout: 30_000 }, () => {
  test('keeps the tokens when the page reloads, and deletes them on logout', async (context) => {
    const open = openTabs(context);
    const area = createArea();
    const tab = open(area);
    assert.equal(await tab.read(), undefined);
    await tab.write(tokensOf('a'));
    tab.close!();
    const reloaded = open(area);
    assert.deepEqual(await reloaded.read(), tokensOf('a'));
    await reloaded.write(undefined);
    reloaded.close!();
    assert.equal(await open(area).read(), undefined);
  });

  test('notifies a tab once of a change that it finds in the area', async (context) => {
    const area = createArea();
    const open = openTabs(context);
    const [tab, otherTab] = [open(area), open(area)];
    await tab.write(tokensOf('a'));
    assert.deepEqual(await otherTab.read(), tokensOf('a'));
    const changes: (string | undefined)[] = [];
    otherTab.onChange!((tokens) => changes.push(tokens?.authToken));
    const { setItem } = area;
    let reading: unknown;
    area.setItem = (key, value) => {
      setItem(key, value);
      // Reads before a message can arrive.
      reading ??= otherTab.read();
    };
    await tab.write(undefined);
    assert.equal(await reading, undefined);
    assert.deepEqual(changes, [undefined]);
    const later = nextChange(otherTab);
    await tab.write(tokensOf('two'));
    await later;
    assert.deepEqual(changes, [undefined, 'auth two']);
  });

  test('does not wait for other tabs if none has tokens', async (context) => {
    const open = openTabs(context);
    context.mock.timers.enable({ apis: ['setTimeout'] });
    assert.equal(await open().read(), undefined);
    const tab = open();
    await tab.write(tokensOf('a'));
    assert.deepEqual(await open().read(), tokensOf('a'));
    tab.close!();
  });

  test('ignores malformed data in the area and in the channel', async (context) => {
    const name = randomUUID();
    const area = createArea();
    const tab = openTabs(context, name)(area);
    await tab.write(tokensOf('a'));
    const otherScript = new BroadcastChannel(`espalier:${name}`);
    context.after(() => otherScript.close());
    const at = Number.MAX_SAFE_INTEGER;
    const tokens = { authToken: 1 };
    for (const malformed of [null, { at: Infinity }, { at, tokens: null }, { at, tokens }]) {
      otherScript.postMessage(malformed);
      otherScript.postMessage({ from: 'otherScript', kept: malformed });
      area.setItem(`espalier:${name}`, JSON.stringify(malformed));
      assert.deepEqual(await tab.read(), tokensOf('a'));
    }
    const later = nextChange(tab);
    otherScript.postMessage({ from: 'otherScript', kept: { at, tokens: tokensOf('two') } });
    assert.deepEqual(await later, tokensOf('two'));
  });

  test('sends tokens to the other tabs even after close(), and then closes the channel again', async (context) => {
    const open = openTabs(context);
    const [tab, otherTab] = [open(), open()];
    await tab.write(tokensOf('a'));
    assert.deepEqual(await otherTab.read(), tokensOf('a'));
    tab.close!();
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const closes = context.mock.method(BroadcastChannel.prototype, 'close').mock;
    const changes = nextChange(otherTab);
    await tab.write(tokensOf('two'));
    assert.deepEqual(await changes, tokensOf('two'));
    context.mock.timers.tick(10_000);
    assert.equal(closes.callCount(), 1);
  });

  test('gives a new tab the tokens of the other tabs, and notifies all tabs of every write', async (context) => {
    const open = openTabs(context);
    const [first, second] = [open(), open()];
    await first.write(tokensOf('a'));
    assert.deepEqual(await second.read(), tokensOf('a'));
    const third = open();
    assert.deepEqual(await third.read(), tokensOf('a'));
    const changes = [first, second].map(nextChange);
    await third.write(tokensOf('two'));
    assert.deepEqual(await Promise.all(changes), [tokensOf('two'), tokensOf('two')]);
    const removals = [first, third].map(nextChange);
    await second.write(undefined);
    assert.deepEqual(await Promise.all(removals), [undefined, undefined]);
    assert.equal(await first.read(), undefined);
  });

  test('runs the work of one tab at a time, with the tokens from the previous tab', async (context) => {
    const open = openTabs(context);
    const tabs = [open(), open(), open()];
    await tabs[0]!.write(tokensOf('0'));
    await Promise.all(tabs.map(async (tab) => tab.read()));
    let running = 0;
    const increment = (tab: TokenStorage) =>
      tab.lock!(async () => {
        assert.equal(++running, 1);
        const { authToken } = (await tab.read())!;
        const next = String(Number(authToken.slice(5)) + 1);
        await tab.write(tokensOf(next));
        running--;
        return next;
      });
    for (let round = 0; round < 20; round++) {
      const numbers = await Promise.all(tabs.map(increment));
      assert.deepEqual(
        numbers.map(Number).sort((a, b) => a - b),
        [1, 2, 3].map((number) => round * 3 + number),
      );
    }
  });

  test('receives the answers of other tabs even after the page was suspended', async (context) => {
    const open = openTabs(context);
    const [tab, otherTab] = [open(), open()];
    await tab.write(tokensOf('a'));
    assert.deepEqual(await otherTab.read(), tokensOf('a'));
    // oxlint-disable-next-line typescript/unbound-method -- called with the channel below
    const { postMessage } = BroadcastChannel.prototype;
    context.mock.method(
      BroadcastChannel.prototype,
      'postMessage',
      function (this: InstanceType<typeof BroadcastChannel>, message: { asks?: string; answers?: string }) {
        // Drops everything except questions and answers.
        if (!message.asks && !message.answers) return;
        postMessage.call(this, message);
        block(510);
      },
    );
    await tab.write(tokensOf('two'));
    assert.deepEqual(await otherTab.lock!(() => Promise.resolve(otherTab.read())), tokensOf('two'));
  });

  test('rejects with the error of the work, and releases the lock', async (context) => {
    const tab = openTabs(context)();
    await assert.rejects(
      tab.lock!(() => Promise.reject(new Error('Mistake.'))),
      /Mistake/,
    );
    assert.equal(await tab.lock!(() => Promise.resolve(1)), 1);
  });

  test('waits ten seconds for a lock that is never released', async (context) => {
    const name = randomUUID();
    const tab = openTabs(context, name)();
    await tab.read();
    const acquired = Promise.withResolvers<void>();
    const { locks } = navigator as unknown as {
      locks: { request(name: string, work: () => unknown): unknown };
    };
    const hanging = Promise.withResolvers<void>();
    context.after(() => hanging.resolve());
    void locks.request(`espalier:${name}`, () => {
      acquired.resolve();
      return hanging.promise;
    });
    await acquired.promise;
    context.mock.timers.enable({ apis: ['setTimeout'] });
    let isDone = false;
    const working = tab.lock!(() => Promise.resolve((isDone = true)));
    context.mock.timers.tick(9_999);
    assert.equal(isDone, false);
    context.mock.timers.tick(1);
    assert.equal(await working, true);
  });

  test('does not replace newer tokens with the old tokens of a resumed tab', async (context) => {
    const name = randomUUID();
    const resumedTab = new BroadcastChannel(`espalier:${name}`);
    context.after(() => resumedTab.close());
    const tab = openTabs(context, name)();
    await tab.write(tokensOf('new'));
    const question = randomUUID();
    const answered = new Promise<unknown>((resolve) => {
      resumedTab.onmessage = ({ data }: { data: { answers?: string; kept: { tokens: Tokens } } }) => {
        if (data.answers === question) resolve(data.kept.tokens);
      };
    });
    resumedTab.postMessage({ from: 'resumed', kept: { at: 1, tokens: tokensOf('old') }, asks: question });
    assert.deepEqual(await answered, tokensOf('new'));
    assert.deepEqual(await tab.read(), tokensOf('new'));
  });

  test('works within one tab if the APIs of the browser are missing or throw', async (context) => {
    const forbidden = () => {
      throw new Error('SecurityError');
    };
    const globals = ['BroadcastChannel', 'navigator', 'sessionStorage'] as const;
    const originals = globals.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
    context.after(() =>
      globals.forEach((name, index) => {
        if (originals[index]) Object.defineProperty(globalThis, name, originals[index]);
        else Reflect.deleteProperty(globalThis, name);
      }),
    );
    for (const name of globals)
      Object.defineProperty(globalThis, name, { configurable: true, value: undefined });
    Object.defineProperty(globalThis, 'sessionStorage', { configurable: true, get: forbidden });
    for (const area of [undefined, { getItem: forbidden, setItem: forbidden }]) {
      const tab = tabStorage({ area });
      assert.equal(await tab.read(), undefined);
      await tab.write(tokensOf('a'));
      assert.deepEqual(await tab.lock!(() => Promise.resolve(tab.read())), tokensOf('a'));
    }
  });
});
