/**
 * Every mutation of the schema runs only once if it is repeated with its idempotency key, and returns the same
 * response.
 */

import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createSchema } from '../../server/src/graph/schema/schema.ts';
import { Attempts } from '../../server/src/sessions/single-sign-on/attempts.ts';
import { databaseKinds } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';
import { IdempotencyTestbed, type Scenario } from './idempotency-testbed.ts';
import { passkeySettings, secondFactorScenarios } from './second-factor-scenarios.ts';

const folderSelection = 'cursor folder{id name title path version updatedAt}';
const user = 'user{id username isAdministrator isDisabled}';
const group = 'group{id name}';
const newPassword = 'a shed of cedar wood';

let number = 0;
const uniqueName = (name: string) => `${name} ${++number}`;

const createTree = async (testbed: IdempotencyTestbed) => {
  const id = await testbed.createFolder(uniqueName('Top'));
  await testbed.createFolder('Inside', await testbed.createFolder('Middle', id));
  return id;
};
const createFolderAndUser = async (testbed: IdempotencyTestbed) => ({
  folderId: await testbed.createFolder(uniqueName('Shared')),
  userId: (await testbed.createUser()).id,
});
const createMembers = async (testbed: IdempotencyTestbed) => ({
  groupId: await testbed.createGroup(uniqueName('Group')),
  userIds: [(await testbed.createUser()).id, (await testbed.createUser()).id],
});
/** Creates a user with two sessions. Returns the user with the token of one session. */
const createPerson = async (testbed: IdempotencyTestbed) => {
  const created = await testbed.createUser();
  await testbed.logIn(created);
  const { authToken } = await testbed.logIn(created);
  return { ...created, authToken };
};

const scenarios: Readonly<Record<string, Scenario>> = {
  ...secondFactorScenarios,
  createFolder: {
    prepare: () => Promise.resolve({ input: { name: uniqueName('New'), title: 'A title' } }),
    selection: folderSelection,
  },
  updateFolder: {
    prepare: async (testbed) => ({
      input: { id: await testbed.createFolder(uniqueName('Old')), name: uniqueName('Renamed') },
    }),
    selection: folderSelection,
  },
  moveFolder: {
    prepare: async (testbed) => ({
      input: { id: await createTree(testbed), parentId: await testbed.createFolder(uniqueName('There')) },
    }),
    selection: `isDryRun folderCount accessChanges{items{before after user{id}}} ${folderSelection}`,
  },
  deleteFolder: {
    prepare: async (testbed) => ({ input: { id: await createTree(testbed), recursive: true } }),
    selection: 'folderId folderCount cursor',
  },
  restoreFolder: {
    prepare: async (testbed) => {
      const id = await createTree(testbed);
      await testbed.mutate('deleteFolder', { id, recursive: true });
      return { input: { id } };
    },
    selection: folderSelection,
  },
  purgeFolder: {
    prepare: async (testbed) => {
      const id = await createTree(testbed);
      await testbed.mutate('deleteFolder', { id, recursive: true });
      return { input: { id } };
    },
    selection: 'folderCount cursor',
  },
  emptyTrash: {
    prepare: async (testbed) => {
      await testbed.mutate('deleteFolder', { id: await createTree(testbed), recursive: true });
      return { input: {} };
    },
    selection: 'folderCount cursor',
    other: { deletedBefore: '2026-01-31T00:00:00Z' },
  },
  duplicateFolder: {
    prepare: async (testbed) => ({ input: { id: await createTree(testbed) } }),
    selection: `folderCount ${folderSelection}`,
  },
  importFolders: {
    prepare: async (testbed) => ({
      input: {
        parentId: await testbed.createFolder(uniqueName('Filled')),
        list: [{ path: 'a/b' }, { path: 'c', title: 'Sea', properties: { deep: { x: [1] } } }],
      },
    }),
    selection:
      'folderCount createdCount updatedCount keptCount isDryRun cursor parent{id name folders{items{name}}}',
    other: { list: [{ path: 'a/b' }, { path: 'c', title: 'Sea', properties: { deep: { x: [2] } } }] },
  },
  grantAccess: {
    prepare: async (testbed) => ({ input: { ...(await createFolderAndUser(testbed)), level: 'READ' } }),
    selection: folderSelection,
    other: { level: 'WRITE' },
  },
  revokeAccess: {
    prepare: async (testbed) => {
      const subject = await createFolderAndUser(testbed);
      await testbed.mutate('grantAccess', { ...subject, level: 'WRITE' });
      return { input: subject };
    },
    selection: folderSelection,
  },
  // Repeating them has no effect, so their results are not stored.
  setFavorite: {
    prepare: async (testbed) => ({ input: { folderId: await createTree(testbed), isFavorite: true } }),
    selection: 'folder{id name}',
    other: 'any',
  },
  visitFolder: {
    prepare: async (testbed) => ({ input: { folderId: await createTree(testbed) } }),
    selection: 'folder{id name}',
    other: 'any',
  },
  createUser: {
    prepare: () => Promise.resolve({ input: { username: uniqueName('somebody'), password: newPassword } }),
    selection: user,
  },
  updateUser: {
    prepare: async (testbed) => ({ input: { id: (await createPerson(testbed)).id, isDisabled: true } }),
    selection: user,
  },
  deleteUser: {
    prepare: async (testbed) => ({ input: { id: (await createPerson(testbed)).id } }),
    selection: 'deletedUserId',
  },
  resetPassword: {
    prepare: async (testbed) => ({
      input: { userId: (await createPerson(testbed)).id, password: newPassword },
    }),
    selection: 'endedSessions',
  },
  startViewAs: {
    prepare: async (testbed) => ({ input: { userId: (await testbed.createUser()).id } }),
    selection: 'user{id username}',
  },
  changePassword: {
    prepare: async (testbed) => {
      const { password, authToken } = await createPerson(testbed);
      return { input: { oldPassword: password, newPassword }, authToken };
    },
    selection: 'endedSessions',
  },
  createGroup: {
    prepare: () => Promise.resolve({ input: { name: uniqueName('Team') } }),
    selection: group,
  },
  updateGroup: {
    prepare: async (testbed) => ({
      input: { id: await testbed.createGroup(uniqueName('Team')), name: uniqueName('Team') },
    }),
    selection: group,
  },
  deleteGroup: {
    prepare: async (testbed) => ({ input: { id: await testbed.createGroup(uniqueName('Team')) } }),
    selection: 'deletedGroupId',
  },
  addToGroup: {
    prepare: async (testbed) => ({ input: await createMembers(testbed) }),
    selection: `added ${group}`,
  },
  removeFromGroup: {
    prepare: async (testbed) => {
      const input = await createMembers(testbed);
      await testbed.mutate('addToGroup', input);
      return { input };
    },
    selection: `removed ${group}`,
  },
  revokeSession: {
    prepare: async (testbed) => {
      const { id } = await createPerson(testbed);
      const query = 'query($id: ID){user(id: $id){sessions{items{id}}}}';
      const { user: found } = await testbed.query<{ user: { sessions: { items: { id: string }[] } } }>(
        query,
        {
          id,
        },
      );
      return { input: { id: found.sessions.items[0]!.id } };
    },
    selection: 'revokedSessionId',
  },
  revokeSessions: {
    prepare: async (testbed) => ({
      input: { keepCurrent: true },
      authToken: (await createPerson(testbed)).authToken,
    }),
    selection: 'endedSessions',
    other: { keepCurrent: false },
  },
  createApiKey: {
    prepare: () => Promise.resolve({ input: { name: uniqueName('Key'), level: 'READ' } }),
    selection: 'apiKey{id name level state}',
    other: { level: 'WRITE' },
  },
  revokeApiKey: {
    prepare: async (testbed) => {
      const input = { name: uniqueName('Key'), level: 'READ' };
      type Created = { apiKey: { id: string } };
      const { apiKey } = await testbed.mutate<Created>('createApiKey', input, 'apiKey{id}');
      return { input: { id: apiKey.id } };
    },
    selection: 'apiKey{id state revokedAt}',
  },
  linkSingleSignOn: {
    prepare: async (testbed) => ({ input: await createSignOnCode(testbed.server) }),
    selection: 'identity{id name}',
  },
  unlinkSingleSignOn: {
    prepare: async (testbed) => {
      type Linked = { identity: { id: string } };
      const input = await createSignOnCode(testbed.server);
      const { identity } = await testbed.mutate<Linked>('linkSingleSignOn', input, 'identity{id}');
      return { input: { id: identity.id } };
    },
    selection: 'unlinkedIdentityId',
  },
  convertToServiceAccount: {
    prepare: async (testbed) => ({ input: { userId: (await createPerson(testbed)).id } }),
    selection: 'user{id username kind}',
  },
};

/** The server never contacts the provider, because the sign-in there has already happened. */
const signOnSettings = {
  ...passkeySettings,
  SSO_ISSUER: 'http://127.0.0.1:9',
  SSO_CLIENT_ID: 'espalier',
};

/** Stores the one-time code of a new person who has signed in at the provider. */
async function createSignOnCode({ database, clock }: Testbed): Promise<{ code: string; verifier: string }> {
  const verifier = randomUUID();
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const person = {
    issuer: signOnSettings.SSO_ISSUER,
    subject: randomUUID(),
    sid: undefined,
    username: uniqueName('person'),
    groups: [],
    refreshToken: undefined,
  };
  const code = await withDatabase(database.url, (stored) =>
    new Attempts(stored, clock).createCode({ person, startedAt: clock.now() }, challenge),
  );
  return { code, verifier };
}

test('has a scenario for every mutation of the schema', () => {
  const fields = createSchema().getMutationType()!.getFields();
  assert.deepEqual(Object.keys(scenarios).toSorted(), Object.keys(fields).toSorted());
});

for (const kind of databaseKinds) {
  describe(`a repeated mutation with an idempotency key, on two nodes with ${kind.name}`, () => {
    let testbed: IdempotencyTestbed;
    let secondNode: Testbed;
    before(async () => {
      testbed = await IdempotencyTestbed.start(kind, { settings: signOnSettings });
      const { database, clock } = testbed.server;
      secondNode = await Testbed.start(kind, { database, clock, settings: signOnSettings });
    });
    after(async () => {
      await secondNode.stop();
      await testbed.stop();
    });

    for (const [name, { prepare, selection, other }] of Object.entries(scenarios)) {
      test(`runs ${name} once, at the same time or later, and returns the same response`, async () => {
        const { input, authToken } = await prepare(testbed);
        const options = { key: randomUUID(), ...(authToken && { authToken }) };
        const send = (at: Testbed) =>
          testbed.mutateWithKey<unknown>(name, input, selection, { ...options, at });
        const [first, ...others] = await Promise.all([testbed.server, secondNode, testbed.server].map(send));
        const cursor = await testbed.readCursor();
        for (const at of [testbed.server, secondNode]) others.push(await send(at));
        for (const response of others) assert.deepEqual(response, first);
        if (other === 'any') return;
        const refused = await testbed.mutateRefusedWithKey(
          name,
          { ...input, ...(other ?? otherText(input)) },
          options,
        );
        assert.match(refused, /^BAD_INPUT: This Idempotency-Key was used for another change/);
        assert.equal(await testbed.readCursor(), cursor);
      });
    }
  });
}

function otherText(input: Variables): Variables {
  const [key, value] = Object.entries(input).findLast(([, each]) => typeof each === 'string')!;
  return { [key]: `${value as string}x` };
}
