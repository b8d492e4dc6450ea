/** The grants of a user or a group, as the user and administrators see them. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

interface GrantOwner {
  readonly grants: { items: readonly { level: string; folder: { path: string } }[] };
}

const grants = 'grants{items{level folder{path}}}';
const userQuery = `query($id: ID){user(id: $id){${grants}}}`;
const groupQuery = `query($id: ID){group(id: $id){${grants}}}`;

for (const kind of databaseKinds) {
  describe(`the grants of a user on ${kind.name}`, () => {
    let tree: TreeTestbed;
    let ann: Awaited<ReturnType<TreeTestbed['person']>>;
    let bert: Awaited<ReturnType<TreeTestbed['person']>>;
    let groupId: string;

    before(async () => {
      tree = await TreeTestbed.start(kind);
      await tree.import(['Floor 10/Desk', 'Floor 2/Room 11', 'Floor 2/Room 9', 'Attic', 'Cellar/Box']);
      ann = await tree.person({});
      for (const [path, level] of [
        ['/Floor 10', 'READ'],
        ['/Floor 2/Room 11', 'WRITE'],
        ['/Cellar/Box', 'NONE'],
        ['/Floor 2', 'MANAGE'],
        ['/Floor 2/Room 9', 'NONE'],
        ['/Attic', 'READ'],
      ] as const) {
        tree.server.clock.advanceSeconds(1);
        await tree.mutate('grantAccess', { folderId: await tree.idOf(path), userId: ann.id, level });
      }
      bert = await tree.person({});
      groupId = (await tree.mutate<{ group: { id: string } }>('createGroup', { name: 'Guests' }, 'group{id}'))
        .group.id;
      await tree.mutate('addToGroup', { groupId, userIds: [ann.id, bert.id] });
      const folderId = await tree.idOf('/Floor 10/Desk');
      await tree.mutate('grantAccess', { folderId, groupId, level: 'READ' });
      await tree.delete(await tree.idOf('/Attic'));
    });
    after(() => tree.stop());

    const formatGrants = ({ grants: { items } }: GrantOwner) =>
      items.map(({ level, folder }) => `${level} ${folder.path}`);
    const treeGrants = [
      'NONE /Floor 2/Room 9',
      'MANAGE /Floor 2',
      'NONE /Cellar/Box',
      'WRITE /Floor 2/Room 11',
      'READ /Floor 10',
    ];

    test('are visible to administrators, the newest first, except on folders in the trash', async () => {
      const { user } = await tree.query<{ user: GrantOwner }>(userQuery, { id: ann.id });
      assert.deepEqual(formatGrants(user), treeGrants);
      const { users } = await tree.query<{ users: { items: (GrantOwner & { username: string })[] } }>(
        `{users{items{username ${grants}}}}`,
      );
      assert.deepEqual(
        users.items.map((each) => [each.username, formatGrants(each)]),
        [
          ['admin', []],
          [ann.username, treeGrants],
          [bert.username, []],
        ],
      );
    });

    test('contain the group instead of a user if a group received them', async () => {
      const { group } = await tree.query<{ group: GrantOwner }>(groupQuery, { id: groupId });
      assert.deepEqual(formatGrants(group), ['READ /Floor 10/Desk']);
      const { group: same } = await tree.query<{ group: unknown }>(
        'query($id: ID){group(id: $id){grants{items{user{id} group{id}}}}}',
        { id: groupId },
      );
      assert.deepEqual(same, { grants: { items: [{ user: null, group: { id: groupId } }] } });
    });

    test('are visible to the user who received them, except on hidden folders', async () => {
      const { viewer } = await tree.query<{ viewer: { user: GrantOwner } }>(
        `{viewer{user{${grants}}}}`,
        {},
        ann.authToken,
      );
      assert.deepEqual(
        formatGrants(viewer.user),
        treeGrants.filter((each) => !each.startsWith('NONE')),
      );
    });

    test('omit folders that the viewer does not see from pages and counts', async () => {
      const page = `query($after: String){viewer{user{grants(first: 1, after: $after){
        totalCount items{level folder{path}} pageInfo{hasNextPage hasPreviousPage endCursor}}}}}`;
      interface Page {
        readonly totalCount: number;
        readonly items: GrantOwner['grants']['items'];
        readonly pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string };
      }
      const found: unknown[] = [];
      let after: string | null = null;
      do {
        const response: { viewer: { user: { grants: Page } } } = await tree.query(
          page,
          { after },
          ann.authToken,
        );
        const { totalCount, items, pageInfo } = response.viewer.user.grants;
        assert.equal(totalCount, 3);
        assert.equal(pageInfo.hasPreviousPage, after !== null);
        found.push(...formatGrants({ grants: { items } }));
        after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      } while (after !== null);
      assert.deepEqual(
        found,
        treeGrants.filter((each) => !each.startsWith('NONE')),
      );
    });

    test('are not visible to other users', async () => {
      const cases: [query: string, id: string, authToken: string][] = [
        [userQuery, bert.id, ann.authToken],
        [groupQuery, groupId, ann.authToken],
        [groupQuery, groupId, bert.authToken],
      ];
      for (const [query, id, authToken] of cases) {
        const { data, errors } = await tree.execute<Record<string, { grants: null }>>(
          query,
          { id },
          authToken,
        );
        assert.deepEqual(Object.values(data!), [{ grants: null }]);
        assert.deepEqual(
          errors?.map(({ extensions }) => extensions.code),
          ['FORBIDDEN'],
        );
      }
    });

    test('cost as much as their number if a query reads many users', async () => {
      const small = await TreeTestbed.start(kind, {
        settings: { MAX_FOLDERS: '6' },
        database: tree.server.database,
      });
      const { errors } = await small.execute(
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
