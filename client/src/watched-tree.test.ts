/** What a watched tree does when the server cannot be reached, refuses, or takes its time. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { createChangeFeed, type ChangeFeed } from './change-feed.ts';
import type { SubscribeOptions } from './client.ts';
import { EspalierError, type ErrorCode } from './errors.ts';
import type { AccessLevel } from './folder.ts';
import type { WatchingClient } from './follow-changes.ts';
import { watchTree, type TreeChange, type WatchOptions } from './watched-tree.ts';

interface Node {
  readonly id: string;
  readonly name: string;
  readonly accessLevel: AccessLevel;
  readonly parent: { readonly id: string } | null;
}

interface Asked {
  readonly id?: string;
  readonly first: number;
  readonly after: string | null;
  readonly at?: string;
}

interface Subscription {
  readonly variables: () => { readonly under?: string; readonly after: string };
  readonly options: SubscribeOptions;
  readonly feed: ChangeFeed<unknown>;
}

const node = (id: string, parent: string | null, name = id): Node => ({
  id,
  name,
  accessLevel: 'READ',
  parent: parent === null ? null : { id: parent },
});
const refusal = (code: ErrorCode) => new EspalierError(code, code);
const longMs = 60_000;
/** Lets everything go on that waits for nothing but its turn. */
const settle = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
};

/** Whose every answer and change a test gives. */
class ScriptedServer {
  nodes = [node('top', null), node('a', 'top'), node('b', 'top')];
  cursor = 'read';
  readonly refusals: EspalierError[] = [];
  readonly subscriptions: Subscription[] = [];
  held: Promise<void> | undefined;
  /** Called before each page but the first of a read. */
  beforePage: () => void = () => undefined;
  reads = 0;
  readonly closing = new AbortController();

  readonly client = {
    closing: this.closing.signal,
    query: async (_: unknown, asked: Asked, { signal }: { signal: AbortSignal }) => {
      const { id = 'top', first, after, at = 'top' } = asked;
      if (after === null) this.reads++;
      else this.beforePage();
      const refused = this.refusals.shift();
      if (refused) throw refused;
      await this.held;
      signal.throwIfAborted();
      const inside = (above: string): Node[] =>
        this.nodes.filter(({ parent }) => parent?.id === above).flatMap((each) => [each, ...inside(each.id)]);
      const [top, last] = [this.#node(id), this.#node(at)];
      const begin = Number(after);
      const page = inside(id).slice(begin, begin + first);
      const pageInfo = { endCursor: `${begin + first}`, hasNextPage: begin + first < inside(id).length };
      return {
        cursor: this.cursor,
        folder: top ? { ...top, descendants: { items: page, pageInfo } } : null,
        at: last ? { ...last, ancestors: this.#above(last) } : null,
      };
    },
    subscribe: (_: unknown, variables: Subscription['variables'], options: SubscribeOptions) => {
      const feed = createChangeFeed<unknown>();
      options.signal!.addEventListener('abort', () => feed.end());
      this.subscriptions.push({ variables, options, feed });
      return feed[Symbol.asyncIterator]();
    },
  } as unknown as WatchingClient;

  #node(id: string | undefined): Node | undefined {
    return this.nodes.find((each) => each.id === id);
  }

  #above({ parent }: Node): Node[] {
    const above = this.#node(parent?.id);
    return above ? [...this.#above(above), above] : [];
  }

  /** Of these folders. */
  setLevel(accessLevel: AccessLevel, ...ids: readonly string[]): void {
    this.nodes = this.nodes.map((each) => (ids.includes(each.id) ? { ...each, accessLevel } : each));
  }

  get last(): Subscription {
    return this.subscriptions.at(-1)!;
  }

  tell(kind: string, id: string, cursor: string): void {
    const folder = kind === 'DELETE' ? null : (this.#node(id) ?? null);
    this.last.feed.tell({
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
    const told: TreeChange[] = [];
    watched.onChange((change) => void told.push(change));
    await settle();
    const names = () => watched.children('top').map(({ name }) => name);
    return { watched, told, names };
  };
  const wait = async () => {
    mock.timers.tick(longMs);
    await settle();
  };

  test('follows from where it was read, and tells of a change when it is in the tree', async () => {
    const { watched, told, names } = await watch();
    assert.deepEqual(server.last.variables(), { under: undefined, after: 'read' });
    server.nodes[1] = node('a', 'top', 'c');
    const seen: unknown[] = [];
    watched.onChange(() => seen.push(names(), watched.cursor));
    server.tell('UPDATE', 'a', 'one');
    await settle();
    assert.deepEqual(seen, [['b', 'c'], 'one']);
    assert.deepEqual(told, [{ kind: 'UPDATE', folderId: 'a', path: '/c', at: null, by: 'ada' }]);
    assert.equal(server.reads, 1);
    assert.deepEqual(
      [watched.path('top'), watched.path('a'), watched.path('x'), watched.size, watched.root?.id],
      ['/', '/c', undefined, 3, 'top'],
    );
  });

  test('applies what comes behind a change that has to be read only after it', async () => {
    const { watched, told, names } = await watch();
    let release = () => undefined as void;
    server.held = new Promise((resolve) => (release = resolve));
    server.nodes.push(node('c', 'top'), node('d', 'c'));
    server.tell('CREATE', 'c', 'one');
    server.tell('DELETE', 'a', 'two');
    await settle();
    assert.deepEqual([names(), watched.cursor, told], [['a', 'b'], 'read', []]);
    // A connection that is lost now goes on after what has come.
    assert.equal(server.last.variables().after, 'two');
    release();
    await settle();
    assert.deepEqual([names(), watched.cursor, watched.path('d')], [['b', 'c'], 'two', '/c/d']);
  });

  test('reads anew what was read when a folder above had another level, though it has its own again', async () => {
    const { watched } = await watch();
    server.nodes.push(node('c', 'a'));
    server.setLevel('WRITE', 'a', 'c');
    server.tell('CREATE', 'c', 'one');
    await settle();
    assert.equal(watched.get('c')?.accessLevel, 'WRITE');
    server.setLevel('READ', 'a', 'c');
    server.tell('MOVE', 'a', 'two');
    server.tell('MOVE', 'a', 'three');
    await settle();
    assert.equal(watched.get('c')?.accessLevel, 'READ');
    // The one before was read for the first of the two.
    assert.equal(server.reads, 3);
  });

  test('reads anew what was read in several pages while its own level changed', async () => {
    const { watched } = await watch({ pageSize: 1 });
    server.nodes.push(node('c', 'a'), node('d', 'a'), node('e', 'd'));
    server.beforePage = () => {
      server.setLevel('WRITE', 'a', 'c', 'd', 'e');
      server.beforePage = () => undefined;
    };
    server.tell('IMPORT', 'a', 'one');
    server.tell('UPDATE', 'a', 'two');
    await settle();
    await settle();
    const levels = () => ['a', 'c', 'd', 'e'].map((id) => watched.get(id)?.accessLevel);
    assert.deepEqual(levels(), ['WRITE', 'WRITE', 'WRITE', 'WRITE']);

    // There and back, so that it is told with the level that it had all the time.
    let level: AccessLevel = 'WRITE';
    server.beforePage = () =>
      server.setLevel((level = level === 'READ' ? 'WRITE' : 'READ'), 'a', 'c', 'd', 'e');
    server.tell('IMPORT', 'a', 'three');
    await settle();
    await settle();
    server.beforePage = () => undefined;
    server.setLevel('WRITE', 'a', 'c', 'd', 'e');
    server.tell('UPDATE', 'a', 'four');
    await settle();
    await settle();
    assert.deepEqual(levels(), ['WRITE', 'WRITE', 'WRITE', 'WRITE']);
  });

  test('finds again in what is moved a folder that was read there before it was told that it had gone', async () => {
    const { watched } = await watch();
    // Seen by now where it came with `d`, into which it had been moved when that was not to be seen.
    server.nodes.push(node('d', 'a'), node('c', 'd'));
    server.tell('IMPORT', 'a', 'one');
    server.tell('DELETE', 'c', 'two');
    await settle();
    assert.deepEqual([watched.path('d'), watched.path('c')], ['/a/d', undefined]);
    server.tell('UPDATE', 'd', 'three');
    await settle();
    assert.equal(server.reads, 2);
    server.tell('MOVE', 'd', 'four');
    await settle();
    assert.equal(watched.path('c'), '/a/d/c');
    server.tell('MOVE', 'd', 'five');
    await settle();
    assert.equal(server.reads, 3);
  });

  test('goes on after what it has when the subscription ends, however often the server cannot be reached', async () => {
    await watch();
    server.tell('UPDATE', 'a', 'one');
    await settle();
    for (const code of ['UNREACHABLE', 'UNAVAILABLE'] as const) {
      server.last.feed.end(refusal(code));
      await settle();
      await wait();
    }
    server.last.feed.end();
    await settle();
    await wait();
    assert.equal(server.subscriptions.length, 4);
    assert.equal(server.last.variables().after, 'one');
  });

  test('goes on after the cursor with which a server that stops has said good-bye', async () => {
    await watch();
    server.last.options.onGoingAway!('gone');
    assert.equal(server.last.variables().after, 'gone');
  });

  test('reads again what it could not read, and forgets nothing meanwhile', async () => {
    const { names } = await watch();
    server.nodes.push(node('c', 'top'));
    server.refusals.push(refusal('UNREACHABLE'), refusal('UNAVAILABLE'));
    server.tell('CREATE', 'c', 'one');
    await settle();
    assert.deepEqual(names(), ['a', 'b']);
    await wait();
    await wait();
    assert.deepEqual(names(), ['a', 'b', 'c']);
  });

  test('reads everything anew when it is told to', async () => {
    const { names, told, watched } = await watch();
    server.nodes = [node('top', null), node('z', 'top')];
    server.last.feed.tell({
      folderChanges: { kind: 'RESYNC', folderId: null, cursor: 'new', at: null, by: null },
    });
    await settle();
    assert.deepEqual([names(), watched.size, watched.cursor, told[0]?.kind], [['z'], 2, 'new', 'RESYNC']);
  });

  test('is empty while the watched folder is gone, and looks for it until it is back', async () => {
    const { watched, told } = await watch({ under: 'a' });
    assert.equal(watched.root?.name, 'a');
    const { nodes } = server;
    server.nodes = [];
    server.last.feed.end(refusal('NOT_FOUND'));
    await settle();
    assert.deepEqual([watched.root, watched.size], [undefined, 0]);
    await wait();
    server.nodes = nodes;
    server.cursor = 'back';
    await wait();
    assert.equal(watched.path('a'), '/');
    assert.deepEqual(server.last.variables(), { under: 'a', after: 'back' });
    assert.deepEqual(
      told.map(({ kind, folderId }) => [kind, folderId]),
      [
        ['DELETE', 'a'],
        ['CREATE', 'a'],
      ],
    );
  });

  test('is refused where there is no folder', async () => {
    await assert.rejects(watch({ under: 'nowhere' }), { code: 'NOT_FOUND' });
    assert.equal(server.subscriptions.length, 0);
  });

  for (const where of ['the subscription', 'a read']) {
    test(`ends with what waiting does not mend, in ${where}, and stays as it was`, async () => {
      const { watched, names } = await watch();
      const next = watched[Symbol.asyncIterator]().next();
      if (where === 'a read') {
        server.refusals.push(refusal('LOGGED_OUT'));
        server.tell('CREATE', 'a', 'one');
      } else {
        server.last.feed.end(refusal('LOGGED_OUT'));
      }
      await assert.rejects(next, { code: 'LOGGED_OUT' });
      await assert.rejects(watched.closed, { code: 'LOGGED_OUT' });
      assert.ok(server.last.options.signal!.aborted);
      assert.deepEqual([names(), watched.cursor], [['a', 'b'], 'read']);
    });
  }

  test('ends for all who iterate when it is closed, by itself, by a signal or with the client', async () => {
    for (const close of ['itself', 'signal', 'client']) {
      const stopping = new AbortController();
      const { watched } = await watch({ signal: stopping.signal });
      const iterators = [watched[Symbol.asyncIterator](), watched[Symbol.asyncIterator]()];
      const waiting = iterators.map((each) => each.next());
      if (close === 'itself') watched.close();
      else if (close === 'signal') stopping.abort();
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

  test('whose client is closed does not go on, also if what it followed ended before it was told', async () => {
    const { watched } = await watch();
    server.last.feed.end();
    await settle();
    server.closing.abort();
    await watched.closed;
    await wait();
    assert.equal(server.subscriptions.length, 1);
  });

  test('that is given up while it is read rejects with the reason', async () => {
    const stopping = new AbortController();
    let release = () => undefined as void;
    server.held = new Promise((resolve) => (release = resolve));
    const watching = watchTree(server.client, { signal: stopping.signal });
    stopping.abort(new Error('given up'));
    release();
    await assert.rejects(watching, /given up/);
    await assert.rejects(watchTree(server.client, { signal: stopping.signal }), /given up/);
  });
});
