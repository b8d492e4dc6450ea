/** Operations whose client is gone, or has stopped them, before their turn came: none of their work is begun. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { GraphLimits } from '../../server/src/graph/graph.ts';
import { Refusal } from '../../server/src/refusal.ts';
import { databaseKinds } from '../databases.ts';
import { MirrorBed, viewerOf } from './mirror-bed.ts';

for (const kind of databaseKinds) {
  describe(`abandoned operations on ${kind.name}`, () => {
    let bed: MirrorBed;
    let userId: string;
    const statements: string[] = [];
    let onStatement: (text: string) => void = () => undefined;

    before(async () => {
      bed = await MirrorBed.start(
        kind,
        {},
        {
          onStatement: (text) => {
            statements.push(text);
            onStatement(text);
          },
        },
      );
      userId = await bed.administratorId();
      await bed.run(userId, 'mutation{createFolder(input: {name: "there"}){folder{id}}}');
    });
    after(() => bed.stop());
    beforeEach(() => {
      onStatement = () => undefined;
      statements.length = 0;
    });

    const folderNames = async () => {
      const { data } = await bed.run<{ folder: { folders: { items: { name: string }[] } } }>(
        userId,
        '{folder{folders{items{name}}}}',
      );
      return data!.folder.folders.items.map(({ name }) => name);
    };
    const open = async (query: string, limits: GraphLimits) =>
      bed.graph.open({ query }, viewerOf(userId), limits);
    /** Without work that waits, an operation is begun at once. */
    const fillQueue = () => bed.graph.readInTurn(viewerOf(userId), () => undefined);
    const isAbandoned = (error: unknown) => error instanceof Refusal && error.code === 'UNAVAILABLE';

    for (const [what, query, text] of [
      ['query', '{folder{folders{items{name}}}}', /from folders/],
      ['mutation', 'mutation{createFolder(input: {name: "abandoned"}){folder{id}}}', /insert into folders/],
      ['long read', '{search(text: "there"){items{name}}}', /trigrams|like/],
      ['subscription', 'subscription{folderChanges{kind}}', /from folders/],
    ] as const) {
      test(`a ${what} that waits is not begun when its signal is aborted`, async () => {
        const stopping = new AbortController();
        let begun = 0;
        const limits = { signal: stopping.signal, mayBegin: () => void begun++ };
        const turn = fillQueue();
        const abandoned = Array.from({ length: 20 }, () => open(query, limits));
        stopping.abort();
        const settled = await Promise.allSettled(abandoned);
        assert.ok(settled.every((each) => each.status === 'rejected' && isAbandoned(each.reason)));
        await turn;
        assert.equal(begun, 0);
        assert.deepEqual(
          statements.filter((statement) => text.test(statement)),
          [],
        );
        assert.deepEqual(await folderNames(), ['there']);
      });
    }

    test('a mutation whose transaction has begun completes it, and begins no other', async () => {
      const stopping = new AbortController();
      const query =
        'mutation{a: createFolder(input: {name: "first"}){folder{id}} b: createFolder(input: {name: "second"}){folder{id}}}';
      onStatement = (text) => {
        if (/insert into folders/.test(text)) stopping.abort();
      };
      const result = await open(query, { signal: stopping.signal });
      assert.match((result as { text: string }).text, /UNAVAILABLE/);
      assert.equal(statements.filter((statement) => /insert into folders/.test(statement)).length, 1);
      assert.deepEqual(await folderNames(), ['first', 'there']);
    });

    test('a response of a subscription is not computed when it is stopped while it waits', async () => {
      const stopping = new AbortController();
      const gate = Promise.withResolvers<void>();
      let responses = 0;
      const stream = await open('subscription{folderChanges{kind folder{name}}}', {
        signal: stopping.signal,
        whenRoom: async (respond) => {
          responses++;
          await gate.promise;
          return respond();
        },
      });
      assert.ok('next' in stream);
      const next = stream.next();
      await bed.run(userId, 'mutation{createFolder(input: {name: "told"}){folder{id}}}');
      while (responses === 0) await new Promise(setImmediate);
      statements.length = 0;
      stopping.abort();
      gate.resolve();
      await assert.rejects(async () => next, isAbandoned);
      assert.deepEqual(
        statements.filter((statement) => /from folders/.test(statement)),
        [],
      );
      await stream.return();
    });
  });
}
