import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortGrants, filterByName } from './grant-order.ts';
import type { Grant } from './folder-grants.ts';

function grant(folderId: string, to: { readonly user?: string; readonly group?: string }): Grant {
  return {
    folder: { id: folderId, name: folderId },
    user: to.user === undefined ? null : { id: to.user, username: to.user },
    group: to.group === undefined ? null : { id: to.group, name: to.group },
    level: 'READ',
    grantedAt: '2026-01-01T00:00:00.000Z',
  };
}

const grants = [
  grant('near', { group: 'Team 10' }),
  grant('near', { user: 'zoe' }),
  grant('near', { group: 'team 9' }),
  grant('far', { user: 'ada' }),
  grant('near', { user: 'Ben' }),
];
const format = (some: readonly Grant[]) =>
  some.map(({ folder, user, group }) => `${folder.id} ${user?.username ?? group?.name}`);

test('sorts the grants of each folder by name, with “Team 9” before “Team 10”', () => {
  assert.deepEqual(format(sortGrants(grants)), [
    'near Ben',
    'near team 9',
    'near Team 10',
    'near zoe',
    'far ada',
  ]);
});

test('finds grants by a part of the name, ignoring case', () => {
  assert.deepEqual(format(filterByName(grants, ' TEAM')), ['near Team 10', 'near team 9']);
  assert.equal(filterByName(grants, '  '), grants);
});
