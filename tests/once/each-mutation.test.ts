/** Every mutation of the schema that is sent again under its key is done once, and answers the same. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createSchema } from '../../server/src/graph/schema/schema.ts';
import { databaseKinds } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { Testbed } from '../support/testbed.ts';
import { OnceBed } from './once-bed.ts';

interface Scenario {
  /** What has to be there; answers with the input, and with the token of whoever sends it unless the administrator. */
  readonly prepare: (bed: OnceBed) => Promise<{ input: Variables; authToken?: string }>;
  readonly selection: string;
  /** What makes another change of it; without it, another id or name. */
  readonly other?: Variables;
}

const folder = 'cursor folder{id name title path version updatedAt}';
const user = 'user{id username isAdministrator isDisabled}';
const group = 'group{id name}';
const newPassword = 'a shed of cedar wood';

let number = 0;
const fresh = (name: string) => `${name} ${++number}`;

const tree = async (bed: OnceBed) => {
  const id = await bed.folder(fresh('Top'));
  await bed.folder('Inside', await bed.folder('Middle', id));
  return id;
};
const grant = async (bed: OnceBed) => ({
  folderId: await bed.folder(fresh('Shared')),
  userId: (await bed.createUser()).id,
});
const members = async (bed: OnceBed) => ({
  groupId: await bed.createGroup(fresh('Group')),
  userIds: [(await bed.createUser()).id, (await bed.createUser()).id],
});
/** Somebody with two sessions; the token is of one. */
const person = async (bed: OnceBed) => {
  const made = await bed.createUser();
  await bed.logIn(made);
  const { authToken } = await bed.logIn(made);
  return { ...made, authToken };
};

const scenarios: Readonly<Record<string, Scenario>> = {
  createFolder: {
    prepare: () => Promise.resolve({ input: { name: fresh('New'), title: 'A title' } }),
    selection: folder,
  },
  updateFolder: {
    prepare: async (bed) => ({ input: { id: await bed.folder(fresh('Old')), name: fresh('Renamed') } }),
    selection: folder,
  },
  moveFolder: {
    prepare: async (bed) => ({ input: { id: await tree(bed), parentId: await bed.folder(fresh('There')) } }),
    selection: `isDryRun folderCount accessChanges{items{before after user{id}}} ${folder}`,
  },
  deleteFolder: {
    prepare: async (bed) => ({ input: { id: await tree(bed), recursive: true } }),
    selection: 'folderId folderCount cursor',
  },
  restoreFolder: {
    prepare: async (bed) => {
      const id = await tree(bed);
      await bed.mutate('deleteFolder', { id, recursive: true });
      return { input: { id } };
    },
    selection: folder,
  },
  importFolders: {
    prepare: async (bed) => ({
      input: {
        parentId: await bed.folder(fresh('Filled')),
        list: [{ path: 'a/b' }, { path: 'c', title: 'Sea', properties: { deep: { x: [1] } } }],
      },
    }),
    selection: 'folderCount cursor parent{id name folders{items{name}}}',
    other: { list: [{ path: 'a/b' }, { path: 'c', title: 'Sea', properties: { deep: { x: [2] } } }] },
  },
  grantAccess: {
    prepare: async (bed) => ({ input: { ...(await grant(bed)), level: 'READ' } }),
    selection: folder,
    other: { level: 'WRITE' },
  },
  revokeAccess: {
    prepare: async (bed) => {
      const given = await grant(bed);
      await bed.mutate('grantAccess', { ...given, level: 'WRITE' });
      return { input: given };
    },
    selection: folder,
  },
  createUser: {
    prepare: () => Promise.resolve({ input: { username: fresh('somebody'), password: newPassword } }),
    selection: user,
  },
  updateUser: {
    prepare: async (bed) => ({ input: { id: (await person(bed)).id, isDisabled: true } }),
    selection: user,
  },
  deleteUser: {
    prepare: async (bed) => ({ input: { id: (await person(bed)).id } }),
    selection: 'deletedUserId',
  },
  resetPassword: {
    prepare: async (bed) => ({ input: { userId: (await person(bed)).id, password: newPassword } }),
    selection: 'endedSessions',
  },
  changePassword: {
    prepare: async (bed) => {
      const { password, authToken } = await person(bed);
      return { input: { oldPassword: password, newPassword }, authToken };
    },
    selection: 'endedSessions',
  },
  createGroup: {
    prepare: () => Promise.resolve({ input: { name: fresh('Crew') } }),
    selection: group,
  },
  updateGroup: {
    prepare: async (bed) => ({ input: { id: await bed.createGroup(fresh('Crew')), name: fresh('Crew') } }),
    selection: group,
  },
  deleteGroup: {
    prepare: async (bed) => ({ input: { id: await bed.createGroup(fresh('Crew')) } }),
    selection: 'deletedGroupId',
  },
  addToGroup: {
    prepare: async (bed) => ({ input: await members(bed) }),
    selection: `added ${group}`,
  },
  removeFromGroup: {
    prepare: async (bed) => {
      const input = await members(bed);
      await bed.mutate('addToGroup', input);
      return { input };
    },
    selection: `removed ${group}`,
  },
  revokeSession: {
    prepare: async (bed) => {
      const { id } = await person(bed);
      const query = 'query($id: ID){user(id: $id){sessions{items{id}}}}';
      const { user: of } = await bed.query<{ user: { sessions: { items: { id: string }[] } } }>(query, {
        id,
      });
      return { input: { id: of.sessions.items[0]!.id } };
    },
    selection: 'revokedSessionId',
  },
  revokeSessions: {
    prepare: async (bed) => ({
      input: { keepCurrent: true },
      authToken: (await person(bed)).authToken,
    }),
    selection: 'endedSessions',
    other: { keepCurrent: false },
  },
};

test('there is a scenario for every mutation of the schema', () => {
  const fields = createSchema().getMutationType()!.getFields();
  assert.deepEqual(Object.keys(scenarios).toSorted(), Object.keys(fields).toSorted());
});

for (const kind of databaseKinds) {
  describe(`a mutation sent again under its key, to two nodes on ${kind.name}`, () => {
    let bed: OnceBed;
    let there: Testbed;
    before(async () => {
      bed = await OnceBed.start(kind);
      const { database, clock } = bed.testbed;
      there = await Testbed.start(kind, { database, clock });
    });
    after(async () => {
      await there.stop();
      await bed.stop();
    });

    for (const [name, { prepare, selection, other }] of Object.entries(scenarios)) {
      test(`${name} is done once, at the same time or later, and answers the same`, async () => {
        const { input, authToken } = await prepare(bed);
        const here = { key: randomUUID(), ...(authToken && { authToken }) };
        const send = (at: Testbed) => bed.once<unknown>(name, input, selection, { ...here, at });
        const [first, ...others] = await Promise.all([bed.testbed, there, bed.testbed].map(send));
        const place = await bed.place();
        for (const at of [bed.testbed, there]) others.push(await send(at));
        for (const answer of others) assert.deepEqual(answer, first);
        const refused = await bed.onceRefused(name, { ...input, ...(other ?? otherText(input)) }, here);
        assert.match(refused, /^BAD_INPUT: This Idempotency-Key was used for another change/);
        assert.equal(await bed.place(), place);
      });
    }
  });
}

function otherText(input: Variables): Variables {
  const [key, value] = Object.entries(input).findLast(([, each]) => typeof each === 'string')!;
  return { [key]: `${value as string}x` };
}
