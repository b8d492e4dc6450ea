import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../database/database.ts';
import type { SignInAttempt } from './sign-in-buffer.ts';
import { SignIns } from './sign-ins.ts';

const attempt: SignInAttempt = {
  userId: null,
  username: null,
  method: 'PASSWORD',
  result: 'WRONG_CREDENTIALS',
  address: '192.0.2.1',
  agent: null,
};

test('stores attempts that arrive during a write with the next call', async () => {
  let writes = 0;
  const database = {
    transaction: () => {
      assert.ok(++writes <= 10, 'writes endlessly');
      signIns.record(attempt);
    },
  } as unknown as Database;
  const signIns = new SignIns({ database, clock: { now: () => 0 } });
  // More than the number of attempts with a row of their own, so that a summary grows during each write.
  for (let count = 0; count < 250; count++) signIns.record({ ...attempt, address: `192.0.2.${count}` });
  for (let count = 0; count < 50; count++) signIns.record(attempt);
  await signIns.store();
  assert.equal(writes, 3);
  await signIns.store();
  assert.equal(writes, 4);
});
