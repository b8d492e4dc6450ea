import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journalCall, readFilter, toLocalInput, toQuery, type JournalFilter } from './journal-filter.ts';

const filter: JournalFilter = {
  byId: 'a1',
  groupId: 'g1',
  folderId: 'f1',
  kinds: ['MOVE_FOLDER', 'DELETE_FOLDER'],
  from: '2026-11-15T13:00:00.000Z',
};

test('a filter survives the address', () => {
  const query = new URLSearchParams(
    Object.entries(toQuery(filter)).filter((entry): entry is [string, string] => entry[1] !== null),
  );
  assert.equal(query.get('kind'), 'move-folder,delete-folder');
  assert.deepEqual(readFilter(query), filter);
});

test('what an address has that is not understood is left out', () => {
  const query = new URLSearchParams('kind=fly,&from=soon&until=&by=&tab=x');
  assert.deepEqual(readFilter(query), {});
});

test('a filter without anything takes everything out of the address', () => {
  assert.deepEqual(new Set(Object.values(toQuery({}))), new Set([null]));
});

test('the command line shows the same', () => {
  const { action, variables } = journalCall(filter);
  assert.equal(
    action.cliArguments?.(variables)?.join(' '),
    'journal ls --by id:a1 --group id:g1 --folder id:f1 --kind move-folder --kind delete-folder --from 2026-11-15T13:00:00.000Z',
  );
});

test('a field of date and time has the time of where it is, and gives the same instant back', () => {
  assert.equal(toLocalInput(undefined), '');
  const local = toLocalInput('2026-11-15T13:05:00.000Z');
  assert.match(local, /^2026-11-1[456]T\d\d:\d5$/);
  assert.equal(new Date(local).toISOString(), '2026-11-15T13:05:00.000Z');
});
