import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createJournalCall, readFilter, toQuery, type JournalFilter } from './journal-filter.ts';

const filter: JournalFilter = {
  byId: 'a1',
  groupId: 'g1',
  folderId: 'f1',
  kinds: ['MOVE_FOLDER', 'DELETE_FOLDER'],
  from: '2026-11-15T13:00:00.000Z',
};

test('reads the same filter from the address that it wrote', () => {
  const query = new URLSearchParams(
    Object.entries(toQuery(filter)).filter((entry): entry is [string, string] => entry[1] !== null),
  );
  assert.equal(query.get('kind'), 'move-folder,delete-folder');
  assert.deepEqual(readFilter(query), filter);
});

test('ignores unknown values in the address', () => {
  const query = new URLSearchParams('kind=fly,&from=soon&until=&by=&tab=x');
  assert.deepEqual(readFilter(query), {});
});

test('removes all parameters from the address for an empty filter', () => {
  assert.deepEqual(new Set(Object.values(toQuery({}))), new Set([null]));
});

test('creates the arguments of the equivalent espalier command', () => {
  const { action, variables } = createJournalCall(filter);
  assert.equal(
    action.cliArguments?.(variables)?.join(' '),
    'journal ls --by id:a1 --group id:g1 --folder id:f1 --kind move-folder --kind delete-folder --from 2026-11-15T13:00:00.000Z',
  );
});
