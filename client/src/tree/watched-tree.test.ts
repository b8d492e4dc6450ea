/** Tests a watched tree against a scripted server that is unreachable, rejects requests or responds late. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { ChangeEmitter } from './change-emitter.ts';
import type { SubscribeOptions } from '../client.ts';
import { EspalierError, type ErrorCode } from '../errors.ts';
import type { AccessLevel } from '../folder.ts';
import type { WatchingClient } from './follow-changes.ts';
import { watchTree, type TreeChange, type WatchOptions } from './watched-tree.ts';

interface Node {
  readonly id: string;
  readonly name: string;
  readonly accessLevel: AccessLevel;
  readonly parent: { readonly id: string } | null;
}

interface PageVariables {
  readonly id?: string;
  readonly first: number;
  readonly after: string | null;
  readonly lastParent?: string;
}

interface Subscription {
  readonly variables: () => { readonly under?: string; readonly after: string };
  readonly options: SubscribeOptions;
  readonly emitter: ChangeEmitter<unknown>;
}

const node = (id: string, parent: string | null, name = id): Node => ({
  id,
  name,
  accessLevel: 'READ',
  parent: parent === null ? null : { id: parent },
});
const refusal = (code: ErrorCode) => new EspalierError(code, code);
const longPauseMs = 60_000;
/** Runs all pending callbacks that need no timer. */
const settle = async () => {
  for (let round = 0; round < 5; round++) await new Promise(setImmediate);
};

/** A server whose responses and changes the test controls. */
class ScriptedServer {
  nodes = [node('top', null), node('a', 'top'), node('b', 'top')];
  cursor = 'read';
  readonly refusals: EspalierError[] = [];
  readonly subscriptions: Subscription[] = [];
  /** Delays the responses until it resolves. */
  pause: Promise<void> | undefined;
  /** Called before each page of a read except the first. */
  beforePage: () => void = () => undefined;
  reads = 0;
  readonly closing = new AbortController();

  readonly client = {
    closing: this.closing.signal,
    query: async (_: unknown, variables: PageVariables, { signal }: { signal: AbortSignal }) => {
      const { id = 'top', first, after, lastParent = 'top' } = variables;
      if (after === null) this.reads++;
      else this.beforePage();
      const nextRefusal = this.refusals.shift();
      if (nextRefusal) throw nextRefusal;
      await this.pause;
      signal.throwIfAborted();
      const inside = (ancestor: string): Node[] =>
        this.nodes
          .filter(({ parent }) => parent?.id === ancestor)
          .flatMap((each) => [each, ...inside(each.id)]);
      const [top, last] = [this.#node(id), this.#node(lastParent)];
      const begin = Number(after);
      const page = inside(id).slice(begin, begin + first);
      const pageInfo = { endCursor: `${begin + first}`, hasNextPage: begin + first < inside(id).length };
      return {
        cursor: this.cursor,
        folder: top ? { ...top, descendants: { items: page, pageInfo } } : null,
        lastParent: last ? { ...last, ancestors: this.#ancestors(last) } : null,
      };
    },
    subscribe: (_: unknown, variables: Subscription['variables'], options: SubscribeOptions) => {
      const emitter = new ChangeEmitter<unknown>();
      options.signal!.addEventListener('abort', () => emitter.end());
      this.subscriptions.push({ variables, options, emitter });
      return emitter[Symbol.asyncIterator]();
    },
  } as unknown as WatchingClient;

  #node(id: string | undefined): Node | undefined {
    return this.nodes.find((each) => each.id === id);
  }

  #ancestors({ parent }: Node): Node[] {
    const ancestor = this.#node(parent?.id);
    return ancestor ? [...this.#ancestors(ancestor), ancestor] : [];
  }

  setLevel(accessLevel: AccessLevel, ...ids: readonly string[]): void {
    this.nodes = this.nodes.map((each) => (ids.includes(each.id) ? { ...each, accessLevel } : each));
  }

  get last(): Subscription {
    return this.subscriptions.at(-1)!;
  }

  publish(kind: string, id: string, cursor: string): void {
    const folder = kind === 'DELETE' ? null : (this.#node(id) ?? null);
    this.last.emitter.publish({
      folderChanges: { kind, folderId: id, cursor, at: null, by: { username: 'ada' }, folder },
    });
  }
}

describe('a watched tree', () => {
  let server: ScriptedServer;

  beforeEach(() => {
    server = new ScriptedServer();
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

  const watch = async (options?: WatchOptions) => {
    const watched = await watchTree(server.client, options);
    const changes: TreeChange[] = [];
    watched.onChange((change) => void changes.push(change));
    await settle();
    const names = () => watched.children('top').map(({ name }) => name);
    return { watched, changes, names };
  };
  const wait = async () => {
    mock.timers.tick(longPauseMs);
    await settle();
  };

  test('subscribes from the cursor of its read, and publishes each change after applying it', async () => {
    const { watched, changes, names } = await watch();
    assert.deepEqual(server.last.variables(), { under: undefined, after: 'read' });
    server.nodes[1] = node('a', 'top', 'c');
    const seen: unknown[] = [];
    watched.onChange(() => seen.push(names(), watched.cursor));
    server.publish('UPDATE', 'a', 'one');
    await settle();
    assert.deepEqual(seen, [['b', 'c'], 'one']);
    assert.deepEqual(changes, [{ kind: 'UPDATE', folderId: 'a', path: '/c', at: null, by: 'ada' }]);
    assert.equal(server.reads, 1);
    assert.deepEqual(
      [watched.path('top'), watched.path('a'), watched.path('x'), watched.size, watched.root?.id],
      ['/', '/c', undefined, 3, 'top'],
    );
  });

  test('applies later changes only after a change that needs a read', async () => {
    const { watched, changes, names } = await watch();
    let release = () => undefined as void;
    server.pause = new Promise((resolve) => (release = resolve));
    server.nodes.push(node('c', 'top'), node('d', 'c'));
    server.publish('CREATE', 'c', 'one');
    server.publish('DELETE', 'a', 'two');
    await settle();
    assert.deepEqual([names(), watched.cursor, changes], [['a', 'b'], 'read', []]);
    // A new connection would continue after the last received change.
    assert.equal(server.last.variables().after, 'two');
    release();
    await settle();
    assert.deepEqual([names(), watched.cursor, watched.path('d')], [['b', 'c'], 'two', '/c/d']);
  });

  test('reads the subtree of a folder again if its level differed when a descendant was read', async () => {
    const { watched } = await watch();
    server.nodes.push(node('c', 'a'));
    server.setLevel('WRITE', 'a', 'c');
    server.publish('CREATE', 'c', 'one');
    await settle();
    assert.equal(watched.get('c')?.accessLevel, 'WRITE');
    server.setLevel('READ', 'a', 'c');
    server.publish('MOVE', 'a', 'two');
    server.publish('MOVE', 'a', 'three');
    await settle();
    assert.equal(watched.get('c')?.accessLevel, 'READ');
    // The first of the two moves has read the subtree; the second does not.
    assert.equal(server.reads, 3);
  });

  test('reads a subtree again if its access level changed between two pages', async () => {
    const { watched } = await watch({ pageSize: 1 });
    server.nodes.push(node('c', 'a'), node('d', 'a'), node('e', 'd'));
    server.beforePage = () => {
      server.setLevel('WRITE', 'a', 'c', 'd', 'e');
      server.beforePage = () => undefined;
    };
    server.publish('IMPORT', 'a', 'one');
    server.publish('UPDATE', 'a', 'two');
    await settle();
    await settle();
    const levels = () => ['a', 'c', 'd', 'e'].map((id) => watched.get(id)?.accessLevel);
    assert.deepEqual(levels(), ['WRITE', 'WRITE', 'WRITE', 'WRITE']);

    // Back and forth, so that the change reports the same level as before.
    let level: AccessLevel = 'WRITE';
    server.beforePage = () =>
      server.setLevel((level = level === 'READ' ? 'WRITE' : 'READ'), 'a', 'c', 'd', 'e');
    server.publish('IMPORT', 'a', 'three');
    await settle();
    await settle();
    server.beforePage = () => undefined;
    server.setLevel('WRITE', 'a', 'c', 'd', 'e');
    server.publish('UPDATE', 'a', 'four');
    await settle();
    await settle();
    assert.deepEqual(levels(), ['WRITE', 'WRITE', 'WRITE', 'WRITE']);
  });

  test('reads a moved subtree again if the deletion of a descendant was reported after the read', async () => {
    const { watched } = await watch();
    // `c` was moved into `d` while `d` was invisible, and became visible here together with `d`.
    server.nodes.push(node('d', 'a'), node('c', 'd'));
    server.publish('IMPORT', 'a', 'one');
    server.publish('DELETE', 'c', 'two');
    await settle();
    assert.deepEqual([watched.path('d'), watched.path('c')], ['/a/d', undefined]);
    server.publish('UPDATE', 'd', 'three');
    await settle();
    assert.equal(server.reads, 2);
    server.publish('MOVE', 'd', 'four');
    await settle();
    assert.equal(watched.path('c'), '/a/d/c');
    server.publish('MOVE', 'd', 'five');
    await settle();
    assert.equal(server.reads, 3);
  });

  test('subscribes again from the last change when a subscription ends or the server is unreachable', async () => {
    await watch();
    server.publish('UPDATE', 'a', 'one');
    await settle();
    for (const code of ['UNREACHABLE', 'UNAVAILABLE'] as const) {
      server.last.emitter.end(refusal(code));
      await settle();
      await wait();
    }
    server.last.emitter.end();
    await settle();
    await wait();
    assert.equal(server.subscriptions.length, 4);
    assert.equal(server.last.variables().after, 'one');
  });

  test('continues at the cursor that a server sends when it shuts down', async () => {
    await watch();
    server.last.options.onGoingAway!('gone');
    assert.equal(server.last.variables().after, 'gone');
  });

  test('retries a failed read, and keeps its folders meanwhile', async () => {
    const { names } = await watch();
    server.nodes.push(node('c', 'top'));
    server.refusals.push(refusal('UNREACHABLE'), refusal('UNAVAILABLE'));
    server.publish('CREATE', 'c', 'one');
    await settle();
    assert.deepEqual(names(), ['a', 'b']);
    await wait();
    await wait();
    assert.deepEqual(names(), ['a', 'b', 'c']);
  });

  test('reads everything again after RESYNC', async () => {
    const { names, changes, watched } = await watch();
    server.nodes = [node('top', null), node('z', 'top')];
    server.last.emitter.publish({
      folderChanges: { kind: 'RESYNC', folderId: null, cursor: 'new', at: null, by: null },
    });
    await settle();
    assert.deepEqual([names(), watched.size, watched.cursor, changes[0]?.kind], [['z'], 2, 'new', 'RESYNC']);
  });

  test('is empty while the watched folder does not exist, and polls until it does', async () => {
    const { watched, changes } = await watch({ under: 'a' });
    assert.equal(watched.root?.name, 'a');
    const { nodes } = server;
    server.nodes = [];
    server.last.emitter.end(refusal('NOT_FOUND'));
    await settle();
    assert.deepEqual([watched.root, watched.size], [undefined, 0]);
    await wait();
    server.nodes = nodes;
    server.cursor = 'back';
    await wait();
    assert.equal(watched.path('a'), '/');
    assert.deepEqual(server.last.variables(), { under: 'a', after: 'back' });
    assert.deepEqual(
      changes.map(({ kind, folderId }) => [kind, folderId]),
      [
        ['DELETE', 'a'],
        ['CREATE', 'a'],
      ],
    );
  });

  test('rejects with NOT_FOUND for a missing folder', async () => {
    await assert.rejects(watch({ under: 'nowhere' }), { code: 'NOT_FOUND' });
    assert.equal(server.subscriptions.length, 0);
  });

  for (const where of ['the subscription', 'a read']) {
    test(`ends with a permanent error of ${where}, and keeps its folders`, async () => {
      const { watched, names } = await watch();
      const next = watched[Symbol.asyncIterator]().next();
      if (where === 'a read') {
        server.refusals.push(refusal('LOGGED_OUT'));
        server.publish('CREATE', 'a', 'one');
      } else {
        server.last.emitter.end(refusal('LOGGED_OUT'));
      }
      await assert.rejects(next, { code: 'LOGGED_OUT' });
      await assert.rejects(watched.closed, { code: 'LOGGED_OUT' });
      assert.ok(server.last.options.signal!.aborted);
      assert.deepEqual([names(), watched.cursor], [['a', 'b'], 'read']);
    });
  }

  test('ends all iterators on close(), on an abort of the signal, and when the client closes', async () => {
    for (const cause of ['close()', 'signal', 'client']) {
      const controller = new AbortController();
      const { watched } = await watch({ signal: controller.signal });
      const iterators = [watched[Symbol.asyncIterator](), watched[Symbol.asyncIterator]()];
      const waiting = iterators.map((each) => each.next());
      if (cause === 'close()') watched.close();
      else if (cause === 'signal') controller.abort();
      else server.closing.abort();
      for (const next of await Promise.all(waiting)) assert.equal(next.done, true);
      await watched.closed;
      assert.ok(server.last.options.signal!.aborted);
      await wait();
    }
    assert.equal(server.subscriptions.length, 3);
    await assert.rejects(watchTree(server.client), { name: 'AbortError' });
    assert.equal(server.reads, 3);
  });

  test('does not subscribe again if the subscription ended before the client was closed', async () => {
    const { watched } = await watch();
    server.last.emitter.end();
    await settle();
    server.closing.abort();
    await watched.closed;
    await wait();
    assert.equal(server.subscriptions.length, 1);
  });

  test('rejects with the reason of its signal if the signal is aborted during the read', async () => {
    const controller = new AbortController();
    let release = () => undefined as void;
    server.pause = new Promise((resolve) => (release = resolve));
    const watching = watchTree(server.client, { signal: controller.signal });
    controller.abort(new Error('given up'));
    release();
    await assert.rejects(watching, /given up/);
    await assert.rejects(watchTree(server.client, { signal: controller.signal }), /given up/);
  });
});
