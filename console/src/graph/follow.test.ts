import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError, type Client } from '@espalier/client';
import { followSubscription } from './follow.ts';

const entry = (number: number) => ({ number, cursor: `c${number}` });

/** Each connection sends its entries and then fails, or ends if it has no failure. */
function createServer(...connections: { readonly sends: readonly number[]; readonly fails?: Error }[]) {
  const cursors: unknown[] = [];
  const subscribe = (_: unknown, variables: () => { after?: string }) => {
    cursors.push(variables().after);
    const { sends, fails } = connections.shift()!;
    return (async function* () {
      await Promise.resolve();
      for (const number of sends) yield { journal: entry(number) };
      if (fails) throw fails;
    })();
  };
  const query = () => Promise.resolve({ cursor: 'now' });
  return { client: { query, subscribe } as unknown as Pick<Client, 'query' | 'subscribe'>, cursors };
}

async function runFollow(
  server: ReturnType<typeof createServer>,
  after = { current: 'c0' as string | undefined },
) {
  const received: number[] = [];
  const pauses: number[] = [];
  let error: unknown;
  await followSubscription<{ number: number; cursor: string }>(server.client, {
    document: '',
    after,
    signal: new AbortController().signal,
    onEvent: ({ number }) => received.push(number),
    pause: (ms) => Promise.resolve(void pauses.push(ms)),
  }).catch((reason: unknown) => (error = reason));
  return { received, pauses, error, cursors: server.cursors };
}

const away = new EspalierError('UNREACHABLE', 'Away.');
const forbidden = new EspalierError('FORBIDDEN', 'No longer an administrator.');

test('resumes after the last received entry when the connection is lost', async () => {
  const { received, cursors } = await runFollow(
    createServer({ sends: [1, 2], fails: away }, { sends: [3] }, { sends: [], fails: forbidden }),
  );
  assert.deepEqual(received, [1, 2, 3]);
  assert.deepEqual(cursors, ['c0', 'c2', 'c3']);
});

test('increases the backoff while the server is unreachable, and resets it after an event', async () => {
  const { pauses } = await runFollow(
    createServer(
      { sends: [], fails: away },
      { sends: [], fails: away },
      { sends: [1], fails: away },
      { sends: [], fails: forbidden },
    ),
  );
  assert.deepEqual(pauses, [500, 1_000, 500]);
});

test('rejects with a final error', async () => {
  assert.equal((await runFollow(createServer({ sends: [1], fails: forbidden }))).error, forbidden);
  const forgotten = new EspalierError('NOT_FOUND', 'Too long ago.');
  assert.equal((await runFollow(createServer({ sends: [], fails: forgotten }))).error, forgotten);
});

test('resumes from the initial cursor when the connection is lost before the first event', async () => {
  const { received, cursors } = await runFollow(
    createServer({ sends: [], fails: away }, { sends: [1] }, { sends: [], fails: forbidden }),
    { current: undefined },
  );
  assert.deepEqual(received, [1]);
  assert.deepEqual(cursors, ['now', 'now', 'c1']);
});
