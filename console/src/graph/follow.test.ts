import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError, type Client } from '@espalier/client';
import { follow } from './follow.ts';

const entry = (number: number) => ({ number, cursor: `c${number}` });

/** Each connection tells its entries, and then fails, or ends when it has no failure. */
function serverOf(...connections: { readonly tells: readonly number[]; readonly fails?: Error }[]) {
  const asked: unknown[] = [];
  const subscribe = (_: unknown, variables: () => { after?: string }) => {
    asked.push(variables().after);
    const { tells, fails } = connections.shift()!;
    return (async function* () {
      await Promise.resolve();
      for (const number of tells) yield { journal: entry(number) };
      if (fails) throw fails;
    })();
  };
  const query = () => Promise.resolve({ cursor: 'now' });
  return { client: { query, subscribe } as unknown as Pick<Client, 'query' | 'subscribe'>, asked };
}

async function followed(
  server: ReturnType<typeof serverOf>,
  after = { current: 'c0' as string | undefined },
) {
  const told: number[] = [];
  const pauses: number[] = [];
  let error: unknown;
  await follow<{ number: number; cursor: string }>(server.client, {
    document: '',
    after,
    signal: new AbortController().signal,
    tell: ({ number }) => told.push(number),
    pause: (ms) => Promise.resolve(void pauses.push(ms)),
  }).catch((reason: unknown) => (error = reason));
  return { told, pauses, error, asked: server.asked };
}

const away = new EspalierError('UNREACHABLE', 'Away.');
const forbidden = new EspalierError('FORBIDDEN', 'No administrator any more.');

test('after a lost connection it goes on from the last entry that it was told', async () => {
  const { told, asked } = await followed(
    serverOf({ tells: [1, 2], fails: away }, { tells: [3] }, { tells: [], fails: forbidden }),
  );
  assert.deepEqual(told, [1, 2, 3]);
  assert.deepEqual(asked, ['c0', 'c2', 'c3']);
});

test('a server that stays away is asked less and less often; what it tells begins anew', async () => {
  const { pauses } = await followed(
    serverOf(
      { tells: [], fails: away },
      { tells: [], fails: away },
      { tells: [1], fails: away },
      { tells: [], fails: forbidden },
    ),
  );
  assert.deepEqual(pauses, [500, 1_000, 500]);
});

test('a refusal ends it, and is told', async () => {
  assert.equal((await followed(serverOf({ tells: [1], fails: forbidden }))).error, forbidden);
  const forgotten = new EspalierError('NOT_FOUND', 'Too long ago.');
  assert.equal((await followed(serverOf({ tells: [], fails: forgotten }))).error, forgotten);
});

test('a line that is lost before anything was told goes on from where it began', async () => {
  const { told, asked } = await followed(
    serverOf({ tells: [], fails: away }, { tells: [1] }, { tells: [], fails: forbidden }),
    { current: undefined },
  );
  assert.deepEqual(told, [1]);
  assert.deepEqual(asked, ['now', 'now', 'c1']);
});
