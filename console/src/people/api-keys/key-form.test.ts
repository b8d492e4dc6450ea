import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { initialKeyForm, isComplete, toNewApiKey, type KeyForm } from './key-form.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');
const folder = { id: 'f1', name: 'Mill', path: '/Places/Mill' };
const inputOf = (changes: Partial<KeyForm>, userId?: string) =>
  toNewApiKey({ ...initialKeyForm, name: 'deploy', ...changes }, userId, now);

describe('the form of an API key', () => {
  test('asks for a key that reads all folders for 90 days by default', () => {
    assert.deepEqual(inputOf({}), { name: 'deploy', level: 'READ', expiresAt: '2026-05-30T12:00:00.000Z' });
  });

  test('sends no expiry for a key that never expires', () => {
    assert.deepEqual(inputOf({ expiry: 'never' }, 'u1'), { userId: 'u1', name: 'deploy', level: 'READ' });
  });

  test('sends the chosen date and the chosen folder', () => {
    const expiresAt = '2026-04-01T00:00:00.000Z';
    assert.deepEqual(inputOf({ expiry: 'date', expiresAt, scope: 'one', folder, level: 'WRITE' }), {
      name: 'deploy',
      level: 'WRITE',
      folderId: 'f1',
      expiresAt,
    });
    assert.equal(inputOf({ folder }).folderId, undefined);
  });

  test('sends the level MANAGE and no folder for a key that acts as administrator', () => {
    assert.deepEqual(inputOf({ isAdministrator: true, scope: 'one', folder, expiry: 'never' }), {
      name: 'deploy',
      level: 'MANAGE',
      isAdministrator: true,
    });
  });

  test('reads one network from each line, and ignores empty lines', () => {
    const { networks } = inputOf({ networks: ' 10.0.0.0/8\n\n2001:db8::/32 , 192.0.2.1\n' });
    assert.deepEqual(networks, ['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']);
    assert.equal(inputOf({ networks: ' \n' }).networks, undefined);
  });

  test('is complete with a name, and with the chosen folder and date', () => {
    const isReady = (changes: Partial<KeyForm>) => isComplete({ ...initialKeyForm, name: 'a', ...changes });
    assert.ok(isReady({}));
    assert.ok(!isReady({ name: ' ' }));
    assert.ok(!isReady({ scope: 'one' }));
    assert.ok(isReady({ scope: 'one', isAdministrator: true }));
    assert.ok(isReady({ scope: 'one', folder }));
    assert.ok(!isReady({ expiry: 'date' }));
    assert.ok(isReady({ expiry: 'date', expiresAt: '2026-04-01T00:00:00.000Z' }));
  });
});
