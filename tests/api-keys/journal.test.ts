/** Each journal entry of a change with an API key names the key. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { GraphQLObjectType } from 'graphql';
import { createSchema } from '../../server/src/graph/schema/schema.ts';
import { FactorTestbed } from '../second-factors/factor-testbed.ts';
import { databaseKinds } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';

/** These need a session, or are not recorded in the journal. */
const withoutEntry = [
  ...['setFavorite', 'visitFolder', 'startViewAs', 'changePassword', 'linkSingleSignOn'],
  ...['unlinkSingleSignOn', 'startTotpEnrolment', 'confirmTotpEnrolment', 'removeTotp'],
  ...['createRecoveryCodes', 'startPasskeyEnrolment', 'finishPasskeyEnrolment', 'renamePasskey'],
  'removePasskey',
];

for (const kind of databaseKinds) {
  describe(`the journal on ${kind.name}`, () => {
    let people: FactorTestbed;
    before(async () => (people = await FactorTestbed.start(kind)));
    after(() => people.stop());

    test('names the API key of every change', async () => {
      const limits = { name: 'key', level: 'MANAGE', isAdministrator: true };
      const { key, apiKey } = await people.mutate<{ key: string; apiKey: { id: string } }>(
        'createApiKey',
        limits,
        'key apiKey{id}',
      );
      const tried = new Set(withoutEntry);
      /** Makes a change with the key. Its entries must name the key. */
      const change = async <Payload>(name: string, input: Variables, selection?: string) => {
        const { cursor } = await people.query<{ cursor: string }>('{cursor}');
        const payload = await people.mutate<Payload>(name, input, selection, key);
        const query = '{cursor journal(first: 1){items{kind byApiKeyId}}}';
        type Read = { cursor: string; journal: { items: { kind: string; byApiKeyId: string }[] } };
        const { journal, ...now } = await people.query<Read>(query);
        assert.notEqual(now.cursor, cursor, `${name} has no entry`);
        const [last] = journal.items;
        assert.equal(last!.byApiKeyId, apiKey.id, `${name}: ${last!.kind}`);
        tried.add(name);
        return payload;
      };
      const createFolder = async (name: string) =>
        (await change<{ folder: { id: string } }>('createFolder', { name }, 'folder{id}')).folder.id;

      const parentId = await createFolder('Parent');
      const id = await createFolder('Folder');
      await change('updateFolder', { id, title: 'Title' });
      await change('moveFolder', { id, parentId });
      await change('duplicateFolder', { id });
      await change('importFolders', { parentId: id, tree: [{ name: 'Imported' }] });
      await change('deleteFolder', { id, recursive: true });
      await change('restoreFolder', { id });
      await people.mutate('deleteFolder', { id, recursive: true });
      await change('purgeFolder', { id });
      await people.mutate('deleteFolder', { id: parentId, recursive: true });
      people.server.clock.advanceSeconds(1);
      await change('emptyTrash', { deletedBefore: new Date(people.server.clock.now()).toISOString() });

      const newUser = { username: 'new', password: 'walnut cabin' };
      const { user } = await change<{ user: { id: string } }>('createUser', newUser, 'user{id}');
      const userId = user.id;
      const { group } = await change<{ group: { id: string } }>(
        'createGroup',
        { name: 'Group' },
        'group{id}',
      );
      await change('updateGroup', { id: group.id, name: 'Renamed' });
      await change('addToGroup', { groupId: group.id, userIds: [userId] });
      await change('removeFromGroup', { groupId: group.id, userIds: [userId] });
      const folderId = await createFolder('Granted');
      await change('grantAccess', { folderId, groupId: group.id, level: 'READ' });
      await change('revokeAccess', { folderId, groupId: group.id });
      await change('deleteGroup', { id: group.id });

      const appUser = await people.createAppUser();
      const { sessions } = await people.query<{ sessions: { items: { id: string }[] } }>(
        `{sessions(userId: "${appUser.id}"){items{id}}}`,
      );
      await change('revokeSession', { id: sessions.items[0]!.id });
      await people.logInWithCode(appUser);
      await change('revokeSessions', { userId: appUser.id });
      await change('resetSecondFactor', { userId: appUser.id });
      await change('updateUser', { id: userId, username: 'renamed' });
      await change('resetPassword', { userId, password: 'another walnut cabin' });
      await change('convertToServiceAccount', { userId });
      await change('createApiKey', { name: 'other', level: 'READ', userId });
      await change('deleteUser', { id: userId });
      const created = { name: 'revoked', level: 'READ' };
      const other = await people.mutate<{ apiKey: { id: string } }>('createApiKey', created, 'apiKey{id}');
      await change('revokeApiKey', { id: other.apiKey.id });

      const mutations = (createSchema().getMutationType() as GraphQLObjectType).getFields();
      assert.deepEqual([...tried].toSorted(), Object.keys(mutations).toSorted());
    });
  });
}
