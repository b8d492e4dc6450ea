import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../refusal.ts';
import { Passwords, requireGoodPassword } from './passwords.ts';
import { dictionary } from '@zxcvbn-ts/language-common';
import fc from 'fast-check';

const entry = { key: 'one client' };

test('matches a password only with its own hash', async () => {
  const passwords = new Passwords();
  const hash = await passwords.hash('correct horse', entry);
  assert.equal(await passwords.matches('correct horse', hash, entry), true);
  for (const other of ['correct hors', 'Correct horse', 'correct horse ', '']) {
    assert.equal(await passwords.matches(other, hash, entry), false, other);
  }
});

test('hashes with argon2id, a salt and the default cost', async () => {
  const passwords = new Passwords();
  const [first, second] = await Promise.all([
    passwords.hash('hunter2', entry),
    passwords.hash('hunter2', entry),
  ]);
  assert.match(first, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.notEqual(first, second);
  assert.ok(!first.includes('hunter2'));
});

test('treats composed and decomposed letters as the same password', async () => {
  const passwords = new Passwords();
  const composed = 'Z\u00fcrich';
  const decomposed = 'Zu\u0308rich';
  assert.equal(await passwords.matches(decomposed, await passwords.hash(composed, entry), entry), true);
  assert.equal(await passwords.matches(composed, await passwords.hash(decomposed, entry), entry), true);
  assert.equal(await passwords.matches('Zurich', await passwords.hash(composed, entry), entry), false);
});

test('matches no password if there is no stored hash', async () => {
  const passwords = new Passwords();
  assert.equal(await passwords.matches('hunter2', undefined, entry), false);
  assert.equal(await passwords.matches('', undefined, entry), false);
});

test('rejects a hash with a retry time if the queue is full', async () => {
  const passwords = new Passwords({ maxConcurrent: 1, maxWaiting: 1 });
  const runningHash = passwords.hash('first', entry);
  const waitingMatch = passwords.matches('second', undefined, entry);
  await assert.rejects(passwords.hash('third', entry), (error) => {
    assert.ok(error instanceof Refusal);
    assert.equal(error.code, 'UNAVAILABLE');
    assert.ok(error.details.retryAfterSeconds! > 0);
    assert.ok(!error.message.includes('third'));
    return true;
  });
  assert.match(await runningHash, /^\$argon2id\$/);
  assert.equal(await waitingMatch, false);
});

test('accepts as many hashes as before after the queue was full', async () => {
  const passwords = new Passwords({ maxConcurrent: 1, maxWaiting: 1 });
  for (let round = 0; round < 3; round++) {
    const three = ['a', 'b', 'c'].map((password) => passwords.hash(password, entry));
    const outcomes = (await Promise.allSettled(three)).map(({ status }) => status);
    assert.deepEqual(outcomes, ['fulfilled', 'fulfilled', 'rejected']);
  }
});

test('releases the permit of a failed hash', async () => {
  const passwords = new Passwords({ maxConcurrent: 1, maxWaiting: 1 });
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
  const passwords = new Passwords({ maxConcurrent: 1, maxWaiting: 6 });
  const served: string[] = [];
  const check = (name: string) => passwords.matches(name, undefined, entry).then(() => served.push(name));
  await Promise.all(['first', 'second', 'third', 'fourth'].map(check));
  assert.deepEqual(served, ['first', 'second', 'third', 'fourth']);
});

const assertRefused = (password: string, expected: RegExp, username = 'anna') =>
  assert.rejects(requireGoodPassword(password, username), (error) => {
    assert.ok(error instanceof Refusal);
    assert.equal(error.code, 'BAD_INPUT');
    assert.match(error.message, expected);
    return true;
  });

test('requires 8 to 128 code points in NFC', async () => {
  const good = [
    'walnut72',
    'x'.repeat(128),
    '🌳🌲🌴🌵🌾🌿🍀🍁',
    '🌳'.repeat(128),
    'é'.repeat(8),
    'e\u0301'.repeat(128),
  ];
  for (const password of good) await requireGoodPassword(password, 'anna');
  for (const password of ['', 'walnut7', 'x'.repeat(129), '🌳'.repeat(7), 'e\u0301'.repeat(7)]) {
    await assertRefused(password, /8 to 128 characters/);
  }
});

test('accepts all kinds of characters and requires no kind', async () => {
  for (const password of [
    'aaaaaaab',
    '        ',
    'ключ от дома',
    '\0\0\0\0\0\0\0\0',
    '72946150382',
    '木木木木木木木木',
  ]) {
    await requireGoodPassword(password, 'anna');
  }
});

test('rejects ill-formed Unicode', () => assertRefused('walnut72\ud800', /well-formed/));

test('rejects common passwords in any case', async () => {
  for (const password of ['password', 'PassWord', '12345678', 'qwertyuiop', 'trustno1', 'Baseball']) {
    await assertRefused(password, /most common/);
  }
});

test('rejects short passwords of repeated or consecutive characters', async () => {
  for (const password of [
    '00000000',
    'AAAAAAAA',
    '12341234',
    '121212121212',
    'abcdefgh',
    '87654321',
    'xyzxyzxyz',
  ]) {
    await assertRefused(password, /most common/);
  }
  for (const password of ['aaaaaaaaaaaaa', 'abcdefgj', '12341235', 'acegikmo']) {
    await requireGoodPassword(password, 'anna');
  }
});

test('rejects the 10,000 most common passwords of the minimum length', async () => {
  const listed = dictionary['passwords-common'].filter(({ length }) => length >= 8);
  assert.deepEqual(listed.slice(0, 4), ['password', '12345678', '123456789', 'baseball']);
  assert.ok(listed.every((password) => password === password.toLowerCase()));
  await assertRefused(listed[9_999]!, /most common/);
  await requireGoodPassword(listed[10_000]!, 'anna');
});

test('rejects the user name as a password, in any case and composition', async () => {
  await assertRefused('Annabelle', /user name/, 'annabelle');
  await assertRefused('Zoe\u0308-and-Max', /user name/, 'zo\u00eb-AND-max');
  await requireGoodPassword('annabelle2', 'annabelle');
});

test('never repeats the password in the error', () =>
  fc.assert(
    fc.asyncProperty(fc.string({ minLength: 4, unit: 'binary' }), async (password) => {
      await requireGoodPassword(password, 'anna').catch((error: unknown) => {
        assert.ok(!String(error).includes(password));
      });
    }),
  ));
