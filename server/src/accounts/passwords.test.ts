import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../refusal.ts';
import { createPasswords } from './passwords.ts';

const entry = { key: 'one client' };

test('matches a password with its own hash only', async () => {
  const passwords = createPasswords();
  const hash = await passwords.hash('correct horse', entry);
  assert.equal(await passwords.matches('correct horse', hash, entry), true);
  for (const other of ['correct hors', 'Correct horse', 'correct horse ', '']) {
    assert.equal(await passwords.matches(other, hash, entry), false, other);
  }
});

test('hashes with argon2id, a salt and the default cost', async () => {
  const passwords = createPasswords();
  const [first, second] = await Promise.all([
    passwords.hash('hunter2', entry),
    passwords.hash('hunter2', entry),
  ]);
  assert.match(first, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.notEqual(first, second);
  assert.ok(!first.includes('hunter2'));
});

test('treats composed and decomposed letters as the same password', async () => {
  const passwords = createPasswords();
  const composed = 'Z\u00fcrich';
  const decomposed = 'Zu\u0308rich';
  assert.equal(await passwords.matches(decomposed, await passwords.hash(composed, entry), entry), true);
  assert.equal(await passwords.matches(composed, await passwords.hash(decomposed, entry), entry), true);
  assert.equal(await passwords.matches('Zurich', await passwords.hash(composed, entry), entry), false);
});

test('matches no password without a hash', async () => {
  const passwords = createPasswords();
  assert.equal(await passwords.matches('hunter2', undefined, entry), false);
  assert.equal(await passwords.matches('', undefined, entry), false);
});

test('rejects a hash with Retry-After if the queue is full', async () => {
  const passwords = createPasswords({ maxConcurrent: 1, maxWaiting: 1 });
  const working = passwords.hash('first', entry);
  const waiting = passwords.matches('second', undefined, entry);
  await assert.rejects(passwords.hash('third', entry), (error) => {
    assert.ok(error instanceof Refusal);
    assert.equal(error.code, 'UNAVAILABLE');
    assert.ok(error.details.retryAfterSeconds! > 0);
    assert.ok(!error.message.includes('third'));
    return true;
  });
  assert.match(await working, /^\$argon2id\$/);
  assert.equal(await waiting, false);
});

test('accepts as many hashes as before after the queue was empty', async () => {
  const passwords = createPasswords({ maxConcurrent: 1, maxWaiting: 1 });
  for (let round = 0; round < 3; round++) {
    const three = ['a', 'b', 'c'].map((password) => passwords.hash(password, entry));
    const outcomes = (await Promise.allSettled(three)).map(({ status }) => status);
    assert.deepEqual(outcomes, ['fulfilled', 'fulfilled', 'rejected']);
  }
});

test('releases the permit of a failed hash', async () => {
  const passwords = createPasswords({ maxConcurrent: 1, maxWaiting: 1 });
  for (let round = 0; round < 3; round++) {
    const failing = passwords.matches('hunter2', 'not a hash', entry);
    const next = passwords.matches('hunter2', undefined, entry);
    await assert.rejects(
      failing,
      (error) => !(error instanceof Refusal) && !String(error).includes('hunter2'),
    );
    assert.equal(await next, false);
  }
});

test('runs waiting hashes in order', async () => {
  const passwords = createPasswords({ maxConcurrent: 1, maxWaiting: 6 });
  const served: string[] = [];
  const ask = (name: string) => passwords.matches(name, undefined, entry).then(() => served.push(name));
  await Promise.all(['first', 'second', 'third', 'fourth'].map(ask));
  assert.deepEqual(served, ['first', 'second', 'third', 'fourth']);
});
