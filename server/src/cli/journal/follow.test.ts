import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PageSlice } from '../api/pages.ts';
import { followJournal } from './follow.ts';

/** A journal that grows between polls, and while it is read. */
class Journal {
  readonly entries: { number: number }[] = [];
  #whenRead: (() => void)[] = [];

  add(...numbers: number[]): void {
    for (const number of numbers) this.entries.unshift({ number });
  }

  onNextRead(work: () => void): void {
    this.#whenRead.push(work);
  }

  read = ({ first, after }: PageSlice) => {
    this.#whenRead.shift()?.();
    const older = this.entries.filter(({ number }) => after === null || number < Number(after));
    const items = older.slice(0, first);
    const pageInfo = {
      hasNextPage: items.length < older.length,
      endCursor: String(items.at(-1)?.number ?? '') || null,
    };
    return Promise.resolve({ items, pageInfo });
  };
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Collects the entries. Runs one step before each poll, and stops after the last step. */
async function follow(journal: Journal, first: number, steps: readonly (() => void)[]) {
  const received: number[] = [];
  const events: string[] = [];
  const left = [...steps];
  const stopped = new Error('stopped');
  const entries = followJournal(journal.read, {
    first,
    pause: () => {
      const step = left.shift();
      if (!step) return Promise.reject(stopped);
      return Promise.resolve(step());
    },
    onError: (error) => void events.push((error as Error).message),
    onReplaced: () => void events.push('replaced'),
  });
  await assert.rejects(async () => {
    for await (const some of entries) received.push(...some.map(({ number }) => number));
  }, stopped);
  return { received, events };
}

test('yields the latest entries, oldest first, and then each new entry', async () => {
  const journal = new Journal();
  journal.add(...range(1, 10));
  const { received } = await follow(journal, 3, [
    () => journal.add(11, 12),
    () => undefined,
    () => journal.add(13),
  ]);
  assert.deepEqual(received, range(8, 13));
});

test('yields each entry of several pages once, even if entries arrive while it reads', async () => {
  const journal = new Journal();
  journal.add(1);
  const steps = [
    () => {
      journal.add(...range(2, 350));
      journal.onNextRead(() => undefined);
      journal.onNextRead(() => journal.add(...range(351, 420)));
    },
    () => undefined,
  ];
  const { received, events } = await follow(journal, 0, steps);
  assert.deepEqual(received, range(2, 420));
  assert.deepEqual(events, []);
});

test('follows an empty journal from its first entry', async () => {
  const journal = new Journal();
  assert.deepEqual((await follow(journal, 5, [() => undefined, () => journal.add(1)])).received, [1]);
});

test('yields the entries of a failed poll after the next poll', async () => {
  const journal = new Journal();
  journal.add(1);
  const fail = () => {
    journal.add(2);
    journal.onNextRead(() => {
      throw new Error('away');
    });
  };
  const { received, events } = await follow(journal, 1, [fail, () => journal.add(3)]);
  assert.deepEqual(received, [1, 2, 3]);
  assert.deepEqual(events, ['away']);
});

test('follows a new journal whose numbers start again', async () => {
  const journal = new Journal();
  journal.add(...range(1, 9));
  const restore = () => journal.entries.splice(0, journal.entries.length, { number: 4 });
  const { received, events } = await follow(journal, 1, [restore, () => journal.add(5)]);
  assert.deepEqual(received, [9, 5]);
  assert.deepEqual(events, ['replaced']);
});
