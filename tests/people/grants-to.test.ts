/** What was granted to somebody, as they and administrators see it. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../databases.ts';
import { TreeBed } from '../tree/tree-bed.ts';

interface Granted {
  readonly grants: readonly { level: string; folder: { path: string } }[];
}

const grants = 'grants{level folder{path}}';
const userQuery = `query($id: ID){user(id: $id){${grants}}}`;
const groupQuery = `query($id: ID){group(id: $id){${grants}}}`;

for (const kind of databaseKinds) {
  describe(`grants to somebody on ${kind.name}`, () => {
    let tree: TreeBed;
    let ann: Awaited<ReturnType<TreeBed['person']>>;
    let bert: Awaited<ReturnType<TreeBed['person']>>;
    let groupId: string;

    before(async () => {
      tree = await TreeBed.start(kind);
      await tree.import(['Floor 10/Desk', 'Floor 2/Room 11', 'Floor 2/Room 9', 'Attic', 'Cellar/Box']);
      ann = await tree.person({
        [await tree.idOf('/Floor 10')]: 'READ',
        [await tree.idOf('/Floor 2/Room 11')]: 'WRITE',
        [await tree.idOf('/Cellar/Box')]: 'NONE',
        [await tree.idOf('/Floor 2')]: 'MANAGE',
        [await tree.idOf('/Floor 2/Room 9')]: 'NONE',
        [await tree.idOf('/Attic')]: 'READ',
      });
      bert = await tree.person({});
      groupId = (await tree.run<{ group: { id: string } }>('createGroup', { name: 'Guests' }, 'group{id}'))
        .group.id;
      await tree.run('addToGroup', { groupId, userIds: [ann.id, bert.id] });
      const folderId = await tree.idOf('/Floor 10/Desk');
      await tree.run('grantAccess', { folderId, groupId, level: 'READ' });
      await tree.delete(await tree.idOf('/Attic'));
    });
    after(() => tree.stop());

    const shown = ({ grants: all }: Granted) => all.map(({ level, folder }) => `${level} ${folder.path}`);
    const onTree = [
      'NONE /Cellar/Box',
      'MANAGE /Floor 2',
      'NONE /Floor 2/Room 9',
      'WRITE /Floor 2/Room 11',
      'READ /Floor 10',
    ];

    test('administrators see those of a user in the order of the tree, without what is in the trash', async () => {
      const { user } = await tree.ask<{ user: Granted }>(userQuery, { id: ann.id });
      assert.deepEqual(shown(user), onTree);
      const { users } = await tree.ask<{ users: { items: (Granted & { username: string })[] } }>(
        `{users{items{username ${grants}}}}`,
      );
      assert.deepEqual(
        users.items.map((each) => [each.username, shown(each)]),
        [
          ['admin', []],
          [ann.username, onTree],
          [bert.username, []],
        ],
      );
    });

    test('and those of a group, with the group', async () => {
      const { group } = await tree.ask<{ group: Granted }>(groupQuery, { id: groupId });
      assert.deepEqual(shown(group), ['READ /Floor 10/Desk']);
      const { group: same } = await tree.ask<{ group: unknown }>(
        'query($id: ID){group(id: $id){grants{user{id} group{id}}}}',
        { id: groupId },
      );
      assert.deepEqual(same, { grants: [{ user: null, group: { id: groupId } }] });
    });

    test('a user sees their own, of the folders that they see', async () => {
      const { viewer } = await tree.ask<{ viewer: { user: Granted } }>(
        `{viewer{user{${grants}}}}`,
        {},
        ann.authToken,
      );
      assert.deepEqual(
        shown(viewer.user),
        onTree.filter((each) => !each.startsWith('NONE')),
      );
    });

    test('nobody else is told', async () => {
      const cases: [query: string, id: string, authToken: string][] = [
        [userQuery, bert.id, ann.authToken],
        [groupQuery, groupId, ann.authToken],
        [groupQuery, groupId, bert.authToken],
      ];
      for (const [query, id, authToken] of cases) {
        const { data, errors } = await tree.body<Record<string, { grants: null }>>(query, { id }, authToken);
        assert.deepEqual(Object.values(data!), [{ grants: null }]);
        assert.deepEqual(
          errors?.map(({ extensions }) => extensions.code),
          ['FORBIDDEN'],
        );
      }
    });

    test('the lists of many users together cost what they hold', async () => {
      const small = await TreeBed.start(kind, {
        settings: { MAX_FOLDERS: '6' },
        database: tree.bed.database,
      });
      const { errors } = await small.body(
        `{a: user(username: "${ann.username}"){${grants}} b: user(username: "${ann.username}"){${grants}}}`,
      );
      assert.deepEqual(
        errors?.map(({ extensions }) => extensions.code),
        ['TOO_EXPENSIVE'],
      );
      await small.stop();
    });
  });
}
