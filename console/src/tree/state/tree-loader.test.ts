import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { FolderChange } from '../../graph/live.tsx';
import { ModelServer } from './model-server.testbed.ts';
import type { Timers } from './timers.ts';
import type { TreeQueries } from './tree-queries.ts';
import { TreeLoader } from './tree-loader.ts';
import { TreeStore } from './tree-store.ts';

/** Creates a tree on a model server. Time passes only when `passTime` is called. */
function createTree(levels: Readonly<Record<string, number>> = {}) {
  const server = new ModelServer();
  for (const [name, count] of Object.entries(levels)) {
    const id = server.addSilently('root', name);
    for (let at = 0; at < count; at++) server.addSilently(id, `${name} ${at}`);
  }
  const due: (() => void)[] = [];
  const timers: Timers = {
    after(_, run) {
      due.push(run);
      return () => void due.splice(due.indexOf(run) >>> 0, 1);
    },
  };
  const store = new TreeStore();
  const failing = { error: null as Error | null };
  const readRange: TreeQueries['readRange'] = (...args) =>
    failing.error ? Promise.reject(failing.error) : server.queries.readRange(...args);
  const loader = new TreeLoader(store, { ...server.queries, readRange }, timers);
  const passTime = () => {
    for (const run of due.splice(0)) run();
  };
  /** Delivers responses until all rows are loaded. */
  const settle = async () => {
    // Rows that are found missing in one round are requested at the end of the round and delivered in the next one.
    for (let round = 0, idle = 0; round < 200; round++) {
      loader.setVisibleRows({ from: 0, to: store.rowCount });
      idle = (await server.deliver()) ? 0 : idle + 1;
      passTime();
      if (idle > 3) return;
    }
    assert.fail('the loader never stops reading');
  };
  return { server, store, loader, failing, passTime, settle };
}

/** The displayed rows as text. */
function rowsOf(store: TreeStore): string[] {
  return Array.from({ length: store.rowCount }, (_, index) => {
    const { folder, depth, position, siblingCount } = store.rowAt(index)!;
    return `${depth} ${folder?.name ?? '…'} ${position + 1}/${siblingCount}`;
  });
}

/** The rows that the server has, with the same folders expanded. */
function expectedRows(server: ModelServer, store: TreeStore): string[] {
  const inside = (id: string, depth: number): string[] =>
    server
      .children(id)
      .flatMap((child, position, { length }) => [
        `${depth} ${child.name} ${position + 1}/${length}`,
        ...(store.isExpanded(child.id) ? inside(child.id, depth + 1) : []),
      ]);
  return ['0 Root 1/1', ...inside('root', 1)];
}

const idOf = (server: ModelServer, name: string) => server.ids.find((id) => server.row(id).name === name)!;

describe('TreeLoader', () => {
  test('reads only the visible rows', async () => {
    const { server, store, loader, passTime } = createTree({ a: 1_000 });
    void loader.readRoot();
    await server.deliver();
    const a = idOf(server, 'a');
    passTime();
    loader.setVisibleRows({ from: 0, to: 30 });
    await server.deliver();
    store.expand(a);
    loader.setVisibleRows({ from: 500, to: 530 });
    passTime();
    await server.deliver();
    assert.equal(store.level(a)!.loadedCount, 200, 'two pages, because the visible rows span two');
    assert.equal(store.rowAt(502)!.folder?.name, 'a 500');
    assert.equal(await server.deliver(), false);
  });

  test('aborts reads of rows that have left the screen', async () => {
    const { server, store, loader, passTime } = createTree({ a: 1_000 });
    void loader.readRoot();
    await server.deliver();
    passTime();
    loader.setVisibleRows({ from: 0, to: 30 });
    await server.deliver();
    store.expand(idOf(server, 'a'));
    for (const from of [100, 400, 900]) {
      passTime();
      loader.setVisibleRows({ from, to: from + 30 });
    }
    passTime();
    while (await server.deliver());
    assert.equal(store.rowAt(410)!.folder, null);
    assert.equal(store.rowAt(910)!.folder?.name, 'a 908');
  });

  test('reveals a folder in the middle of a large level', async () => {
    const { server, store, loader } = createTree({ a: 3_000, b: 2 });
    const target = idOf(server, 'a 2700');
    const revealed = loader.reveal(target);
    await server.deliver();
    assert.ok(await revealed);
    assert.equal(store.indexOf(target), 2_702);
    assert.equal(store.rowCount, 3_003);
    const gone = loader.reveal('nowhere');
    await server.deliver();
    assert.equal(await gone, null);
  });

  test('applies changes that arrive while a folder is being revealed', async () => {
    const { server, store, loader, settle } = createTree({ a: 2, b: 1 });
    void loader.readRoot();
    await settle();
    const [a, target] = [idOf(server, 'a'), idOf(server, 'a 1')];
    const revealed = loader.reveal(target);
    loader.apply(server.rename(a, 'aa'));
    await server.deliver();
    assert.ok(await revealed);
    assert.equal(store.folder(a)!.name, 'aa');
    await settle();
    assert.deepEqual(rowsOf(store), expectedRows(server, store));

    const gone = loader.reveal(target);
    loader.apply(server.remove(target));
    await server.deliver();
    assert.equal(await gone, null, 'the folder was deleted in the meantime');
    await settle();
    assert.deepEqual(rowsOf(store), expectedRows(server, store));
  });

  test('adds a folder that is moved into a level while the level is being read', async () => {
    const { server, store, loader, passTime, settle } = createTree({ a: 2, b: 0 });
    void loader.readRoot();
    await settle();
    const [a, b] = [idOf(server, 'a'), idOf(server, 'b')];
    store.expand(a);
    passTime();
    loader.setVisibleRows({ from: 0, to: 20 });
    loader.apply(server.move(b, a));
    await settle();
    assert.deepEqual(rowsOf(store), ['0 Root 1/1', '1 a 1/1', '2 a 0 1/3', '2 a 1 2/3', '2 b 3/3']);
  });

  test('reads a level again after a stale response has emptied it', async () => {
    const { server, store, loader, settle } = createTree({ a: 0 });
    void loader.readRoot();
    await settle();
    const target = idOf(server, 'a');
    const revealed = loader.reveal(target);
    loader.apply(server.create('root', 'b'));
    loader.apply(server.remove(target));
    await server.deliver();
    assert.equal(await revealed, null);
    await settle();
    assert.deepEqual(rowsOf(store), ['0 Root 1/1', '1 b 1/1']);
  });

  test('applies changes of the root that arrive while it is being read', async () => {
    const { server, store, loader, settle } = createTree();
    void loader.readRoot();
    await settle();
    void loader.readRoot();
    loader.apply(server.rename('root', 'Other'));
    await server.deliver();
    assert.equal(store.root!.name, 'Other');
  });

  test('reports a failed read, and reads again after retry()', async () => {
    const { server, store, loader, failing, passTime } = createTree({ a: 1 });
    let notifications = 0;
    loader.subscribe(() => notifications++);
    void loader.readRoot();
    await server.deliver();
    passTime();
    failing.error = new Error('broken');
    loader.setVisibleRows({ from: 0, to: 5 });
    await server.deliver();
    assert.equal(loader.failure(), failing.error);
    passTime();
    loader.setVisibleRows({ from: 0, to: 5 });
    assert.equal(await server.deliver(), false, 'nothing is requested before the retry');
    failing.error = null;
    passTime();
    loader.retry();
    await server.deliver();
    assert.equal(loader.failure(), null);
    assert.equal(store.rowAt(1)!.folder?.name, 'a');
    assert.equal(notifications, 2);
  });

  test('reads the visible rows again after RESYNC, and keeps expanded folders expanded', async () => {
    const { server, store, loader, settle } = createTree({ a: 3, b: 3 });
    void loader.readRoot();
    await settle();
    store.expand(idOf(server, 'a'));
    await settle();
    server.rename(idOf(server, 'a 1'), 'changed');
    server.create(idOf(server, 'a'), 'a 0.5');
    loader.apply(server.resync());
    assert.equal(store.isExpanded(idOf(server, 'a')), true);
    await settle();
    assert.deepEqual(rowsOf(store), expectedRows(server, store));
  });
});

/** A random action. The numbers select folders among those that exist when it runs. */
const action = fc.record({
  what: fc.constantFrom(
    'expand',
    'collapse',
    'create',
    'rename',
    'move',
    'remove',
    'import',
    'resync',
    'show',
    'reveal',
    'answer',
  ),
  folder: fc.nat(),
  other: fc.nat(),
});

/** Prefers the first few folders, so that several actions hit the same folder. */
function pickId({ ids }: ModelServer, number: number): string {
  return ids[number % (number % 3 === 0 ? ids.length : Math.min(7, ids.length))]!;
}

test('shows the rows of the server after any sequence of actions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 40 }),
      fc.constantFrom(4, 230),
      fc.array(fc.boolean(), { maxLength: 40 }),
      async (actions, large, delays) => {
        const { server, store, loader, passTime, settle } = createTree({ a: 3, b: large, c: 0 });
        void loader.readRoot();
        await settle();
        const delayed: FolderChange[] = [];
        for (const [at, { what, folder, other }] of actions.entries()) {
          const one = pickId(server, folder);
          const two = pickId(server, other);
          const name = `n ${other % 50}`;
          const change =
            what === 'create'
              ? server.create(one, name)
              : what === 'import'
                ? server.import(one, [name, `${name}+`])
                : what === 'resync'
                  ? server.resync()
                  : one === 'root'
                    ? null
                    : what === 'rename'
                      ? server.rename(one, name)
                      : what === 'remove'
                        ? server.remove(one)
                        : what === 'move' && !server.isInside(two, one)
                          ? server.move(one, two)
                          : null;
          if (change) delayed.push(change);
          if (what === 'expand' && store.folder(one)) store.expand(one);
          if (what === 'collapse' && one !== 'root') store.collapse(one);
          if (what === 'show') {
            const from = other % Math.max(1, store.rowCount);
            loader.setVisibleRows({ from, to: from + 20 });
          }
          if (what === 'reveal') void loader.reveal(one);
          if (what === 'answer') {
            await server.deliver();
            passTime();
          }
          if (!delays[at])
            for (const change of delayed.splice(0)) loader.apply(server.withCurrentFolder(change));
        }
        for (const change of delayed) loader.apply(server.withCurrentFolder(change));
        await settle();
        assert.deepEqual(rowsOf(store), expectedRows(server, store));
      },
    ),
    { numRuns: 150 },
  );
});
