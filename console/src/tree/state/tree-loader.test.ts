import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { FolderChange } from '../../graph/live.tsx';
import { ModelServer } from './model-server.test-bed.ts';
import type { Timers } from './timers.ts';
import type { TreeQueries } from './tree-queries.ts';
import { TreeLoader } from './tree-loader.ts';
import { TreeStore } from './tree-store.ts';

/** A tree of a model server; time passes when the test says so. */
function bed(levels: Readonly<Record<string, number>> = {}) {
  const server = new ModelServer();
  for (const [name, count] of Object.entries(levels)) {
    const id = server.plant('root', name);
    for (let at = 0; at < count; at++) server.plant(id, `${name} ${at}`);
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
  const stretch: TreeQueries['stretch'] = (...asked) =>
    failing.error ? Promise.reject(failing.error) : server.reads.stretch(...asked);
  const loader = new TreeLoader(store, { ...server.reads, stretch }, timers);
  const pause = () => {
    for (const run of due.splice(0)) run();
  };
  /** Until nothing is missing of all rows. */
  const settle = async () => {
    // What is found missing in one round is asked for at its end, and answered in the next.
    for (let round = 0, idle = 0; round < 200; round++) {
      loader.setVisibleRows({ from: 0, to: store.rowCount });
      idle = (await server.answer()) ? 0 : idle + 1;
      pause();
      if (idle > 3) return;
    }
    assert.fail('there is always something to read');
  };
  return { server, store, loader, failing, pause, settle };
}

/** What is shown. */
function rowsOf(store: TreeStore): string[] {
  return Array.from({ length: store.rowCount }, (_, index) => {
    const { folder, depth, position, siblingCount } = store.rowAt(index)!;
    return `${depth} ${folder?.name ?? '…'} ${position + 1}/${siblingCount}`;
  });
}

/** What should be, with the same folders open. */
function rowsWanted(server: ModelServer, store: TreeStore): string[] {
  const inside = (id: string, depth: number): string[] =>
    server
      .children(id)
      .flatMap((one, place, { length }) => [
        `${depth} ${one.name} ${place + 1}/${length}`,
        ...(store.isOpen(one.id) ? inside(one.id, depth + 1) : []),
      ]);
  return ['0 Root 1/1', ...inside('root', 1)];
}

const idOf = (server: ModelServer, name: string) => server.ids.find((id) => server.row(id).name === name)!;

describe('the loader', () => {
  test('reads what is shown and nothing else', async () => {
    const { server, store, loader, pause } = bed({ a: 1_000 });
    void loader.readRoot();
    await server.answer();
    const a = idOf(server, 'a');
    pause();
    loader.setVisibleRows({ from: 0, to: 30 });
    await server.answer();
    store.open(a);
    loader.setVisibleRows({ from: 500, to: 530 });
    pause();
    await server.answer();
    assert.equal(store.level(a)!.loadedCount, 200, 'two pages, since the rows are of two');
    assert.equal(store.rowAt(502)!.folder?.name, 'a 500');
    assert.equal(await server.answer(), false);
  });

  test('does not wait for what was scrolled past', async () => {
    const { server, store, loader, pause } = bed({ a: 1_000 });
    void loader.readRoot();
    await server.answer();
    pause();
    loader.setVisibleRows({ from: 0, to: 30 });
    await server.answer();
    store.open(idOf(server, 'a'));
    for (const from of [100, 400, 900]) {
      pause();
      loader.setVisibleRows({ from, to: from + 30 });
    }
    pause();
    while (await server.answer());
    assert.equal(store.rowAt(410)!.folder, null);
    assert.equal(store.rowAt(910)!.folder?.name, 'a 908');
  });

  test('opens the way to a folder in the middle of a large level', async () => {
    const { server, store, loader } = bed({ a: 3_000, b: 2 });
    const target = idOf(server, 'a 2700');
    const revealed = loader.reveal(target);
    await server.answer();
    assert.ok(await revealed);
    assert.equal(store.indexOf(target), 2_702);
    assert.equal(store.rowCount, 3_003);
    const gone = loader.reveal('nowhere');
    await server.answer();
    assert.equal(await gone, null);
  });

  test('shows what happened while the way to a folder was asked for', async () => {
    const { server, store, loader, settle } = bed({ a: 2, b: 1 });
    void loader.readRoot();
    await settle();
    const [a, target] = [idOf(server, 'a'), idOf(server, 'a 1')];
    const revealed = loader.reveal(target);
    loader.apply(server.rename(a, 'aa'));
    await server.answer();
    assert.ok(await revealed);
    assert.equal(store.folder(a)!.name, 'aa');
    await settle();
    assert.deepEqual(rowsOf(store), rowsWanted(server, store));

    const gone = loader.reveal(target);
    loader.apply(server.remove(target));
    await server.answer();
    assert.equal(await gone, null, 'it was deleted meanwhile');
    await settle();
    assert.deepEqual(rowsOf(store), rowsWanted(server, store));
  });

  test('reads again a level that was emptied by something from before', async () => {
    const { server, store, loader, settle } = bed({ a: 0 });
    void loader.readRoot();
    await settle();
    const target = idOf(server, 'a');
    const revealed = loader.reveal(target);
    loader.apply(server.create('root', 'b'));
    loader.apply(server.remove(target));
    await server.answer();
    assert.equal(await revealed, null);
    await settle();
    assert.deepEqual(rowsOf(store), ['0 Root 1/1', '1 b 1/1']);
  });

  test('shows what happened to the root while it was read', async () => {
    const { server, store, loader, settle } = bed();
    void loader.readRoot();
    await settle();
    void loader.readRoot();
    loader.apply(server.rename('root', 'Other'));
    await server.answer();
    assert.equal(store.root!.name, 'Other');
  });

  test('tells that reading failed, and reads when it is told to try again', async () => {
    const { server, store, loader, failing, pause } = bed({ a: 1 });
    let told = 0;
    loader.subscribe(() => told++);
    void loader.readRoot();
    await server.answer();
    pause();
    failing.error = new Error('broken');
    loader.setVisibleRows({ from: 0, to: 5 });
    await server.answer();
    assert.equal(loader.failure(), failing.error);
    pause();
    loader.setVisibleRows({ from: 0, to: 5 });
    assert.equal(await server.answer(), false, 'nothing is asked until then');
    failing.error = null;
    pause();
    loader.retry();
    await server.answer();
    assert.equal(loader.failure(), null);
    assert.equal(store.rowAt(1)!.folder?.name, 'a');
    assert.equal(told, 2);
  });

  test('reads again what is shown after RESYNC, and leaves open what is open', async () => {
    const { server, store, loader, settle } = bed({ a: 3, b: 3 });
    void loader.readRoot();
    await settle();
    store.open(idOf(server, 'a'));
    await settle();
    server.rename(idOf(server, 'a 1'), 'changed');
    server.create(idOf(server, 'a'), 'a 0.5');
    loader.apply(server.resync());
    assert.equal(store.isOpen(idOf(server, 'a')), true);
    await settle();
    assert.deepEqual(rowsOf(store), rowsWanted(server, store));
  });
});

/** Numbers that become what is done, with folders as they are by then. */
const deed = fc.record({
  what: fc.constantFrom(
    'open',
    'close',
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

/** Often one of a few, so that things happen to the same folders. */
function some({ ids }: ModelServer, number: number): string {
  return ids[number % (number % 3 === 0 ? ids.length : Math.min(7, ids.length))]!;
}

test('whatever happens in whatever order, in the end the rows are those of the server', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(deed, { maxLength: 40 }),
      fc.constantFrom(4, 230),
      fc.array(fc.boolean(), { maxLength: 40 }),
      async (deeds, large, delays) => {
        const { server, store, loader, pause, settle } = bed({ a: 3, b: large, c: 0 });
        void loader.readRoot();
        await settle();
        const delayed: FolderChange[] = [];
        for (const [at, { what, folder, other }] of deeds.entries()) {
          const one = some(server, folder);
          const two = some(server, other);
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
          if (what === 'open' && store.folder(one)) store.open(one);
          if (what === 'close' && one !== 'root') store.close(one);
          if (what === 'show') {
            const from = other % Math.max(1, store.rowCount);
            loader.setVisibleRows({ from, to: from + 20 });
          }
          if (what === 'reveal') void loader.reveal(one);
          if (what === 'answer') {
            await server.answer();
            pause();
          }
          if (!delays[at]) for (const known of delayed.splice(0)) loader.apply(server.told(known));
        }
        for (const known of delayed) loader.apply(server.told(known));
        await settle();
        assert.deepEqual(rowsOf(store), rowsWanted(server, store));
      },
    ),
    { numRuns: 150 },
  );
});
