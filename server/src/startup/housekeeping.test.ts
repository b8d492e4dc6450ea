import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Housekeeping } from './housekeeping.ts';
import type { Services } from './services.ts';

test('manual housekeeping reads only the signing keys, before their list is too old to sign', async () => {
  mock.timers.enable({ apis: ['setInterval'] });
  const calls: string[] = [];
  const record = (name: string) => () => {
    calls.push(name);
    return Promise.resolve();
  };
  const housekeeping = new Housekeeping({
    settings: {},
    keys: { reread: record('keys') },
    sessions: { prune: record('sessions') },
    signIns: { store: record('sign-ins') },
    isReady: record('database'),
  } as unknown as Services);
  try {
    housekeeping.startManual();
    mock.timers.tick(200_000);
    assert.deepEqual(new Set(calls), new Set(['keys']));
  } finally {
    await housekeeping.stop();
    mock.timers.reset();
  }
});
