/**
 * The server never starts a queued operation after its client has disconnected or canceled it.
 */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { ExecutionOptions } from '../../server/src/graph/graph.ts';
import { Refusal } from '../../server/src/refusal.ts';
import { databaseKinds } from '../support/databases.ts';
import { MirrorTestbed, createViewer } from './mirror/mirror-testbed.ts';

for (const kind of databaseKinds) {
  describe(`the operation queue on ${kind.name}`, () => {
    let testbed: MirrorTestbed;
    let userId: string;
    const statements: string[] = [];
    let onStatement: (text: string) => void = () => undefined;

    before(async () => {
      testbed = await MirrorTestbed.start(
        kind,
        {},
        {
          onStatement: (text) => {
            statements.push(text);
            onStatement(text);
          },
        },
      );
      userId = await testbed.administratorId();
      await testbed.run(userId, 'mutation{createFolder(input: {name: "there"}){folder{id}}}');
    });
    after(() => testbed.stop());
    beforeEach(() => {
      onStatement = () => undefined;
      statements.length = 0;
    });

    const folderNames = async () => {
      const { data } = await testbed.run<{ folder: { folders: { items: { name: string }[] } } }>(
        userId,
        '{folder{folders{items{name}}}}',
      );
      return data!.folder.folders.items.map(({ name }) => name);
    };
    const open = async (query: string, options: ExecutionOptions) =>
      testbed.graph.open({ query }, createViewer(userId), options);
    /** Queues other work first. Otherwise the server would start the operation immediately. */
    const fillQueue = () => testbed.graph.scheduleRead(createViewer(userId), () => undefined);
    const isAbandoned = (error: unknown) => error instanceof Refusal && error.code === 'UNAVAILABLE';

    for (const [name, query, pattern] of [
      ['query', '{folder{folders{items{name}}}}', /from folders/],
      ['mutation', 'mutation{createFolder(input: {name: "abandoned"}){folder{id}}}', /insert into folders/],
      ['long read', '{search(text: "there"){items{name}}}', /trigrams|like/],
      ['subscription', 'subscription{folderChanges{kind}}', /from folders/],
    ] as const) {
      test(`does not start a queued ${name} after its signal is aborted`, async () => {
        const controller = new AbortController();
        let started = 0;
        const options = { signal: controller.signal, checkBeforeStart: () => void started++ };
        const queuedRead = fillQueue();
        const abandoned = Array.from({ length: 20 }, () => open(query, options));
        controller.abort();
        const results = await Promise.allSettled(abandoned);
        assert.ok(results.every((each) => each.status === 'rejected' && isAbandoned(each.reason)));
        await queuedRead;
        assert.equal(started, 0);
        assert.deepEqual(
          statements.filter((statement) => pattern.test(statement)),
          [],
        );
        assert.deepEqual(await folderNames(), ['there']);
      });
    }

    test('finishes the current transaction of an aborted mutation, and starts no further one', async () => {
      const controller = new AbortController();
      const query =
        'mutation{a: createFolder(input: {name: "first"}){folder{id}} b: createFolder(input: {name: "second"}){folder{id}}}';
      onStatement = (text) => {
        if (/insert into folders/.test(text)) controller.abort();
      };
      const result = await open(query, { signal: controller.signal });
      assert.match((result as { text: string }).text, /UNAVAILABLE/);
      assert.equal(statements.filter((statement) => /insert into folders/.test(statement)).length, 1);
      assert.deepEqual(await folderNames(), ['first', 'there']);
    });

    test('does not compute a waiting response of a canceled subscription', async () => {
      const controller = new AbortController();
      const gate = Promise.withResolvers<void>();
      let responses = 0;
      const stream = await open('subscription{folderChanges{kind folder{name}}}', {
        signal: controller.signal,
        waitForCapacity: async (respond) => {
          responses++;
          await gate.promise;
          return respond();
        },
      });
      assert.ok('next' in stream);
      const next = stream.next();
      await testbed.run(userId, 'mutation{createFolder(input: {name: "changed"}){folder{id}}}');
      while (responses === 0) await new Promise(setImmediate);
      statements.length = 0;
      controller.abort();
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
