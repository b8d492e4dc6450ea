/** Random changes of grants and memberships, and the passing of time. */

import fc from 'fast-check';
import { changeMembers, grantAccess, revokeAccess } from './model-changes.ts';
import { operationKind, type OperationTable } from './operation.ts';
import {
  findActor,
  actors,
  branches,
  resolveFolderId,
  seenFolders,
  weighted,
  writableFolders,
} from './references.ts';
import { levelNames, NONE, type Level, type ModelFolder, type ModelUser } from './tree-model.ts';
import type { World } from './world.ts';

/** Numbers of users and groups. 0 is the administrator, who needs no grants, and 6 does not exist. */
const subjects = weighted([12, fc.integer({ min: 1, max: 5 })], [1, fc.constantFrom(0, 6)]);

const grant = operationKind(
  14,
  fc.record({
    actor: fc.oneof(fc.constant(0), actors),
    folder: fc.oneof(branches, writableFolders, seenFolders),
    subject: subjects,
    level: fc.constantFrom<Level>(0, 0, 1, 2, 2, 3, 3),
  }),
  async (world, { actor, folder: reference, subject, level }) => {
    const user = findActor(world, actor);
    const folderId = resolveFolderId(world, user, reference);
    const target = { folderId, ...toSubject(world, subject) };
    const input = { ...target, level: levelNames[level] };
    await world.mutate(user, 'grantAccess', input, 'folder{id accessLevel}', () =>
      expectedPayload(world, user, grantAccess(world.model, user, { ...target, level })),
    );
  },
);

/** Hides a folder that a user can write, so that some folders among the visible ones are hidden. */
const hideFolder = operationKind(
  5,
  fc.record({ subject: fc.integer({ min: 1, max: 3 }), at: fc.nat(9_999) }),
  async (world, { subject, at }) => {
    const user = findActor(world, subject);
    const target = { folderId: resolveFolderId(world, user, { among: 'writable', at }), userId: user.id };
    const input = { ...target, level: levelNames[NONE] };
    await world.mutate(world.administrator, 'grantAccess', input, 'folder{id accessLevel}', () =>
      expectedPayload(
        world,
        world.administrator,
        grantAccess(world.model, world.administrator, { ...target, level: NONE }),
      ),
    );
  },
);

const revoke = operationKind(
  15,
  fc.record({
    actor: fc.oneof(fc.constant(0), actors),
    folder: writableFolders,
    subject: subjects,
    at: fc.nat(9_999),
  }),
  async (world, { actor, folder: reference, subject, at }) => {
    const user = findActor(world, actor);
    const granted = world.model.onTree().filter(({ grants }) => grants.size > 0);
    // Usually selects an existing grant.
    const selectsExistingGrant = at % 4 > 0 && granted.length > 0;
    const folder = selectsExistingGrant ? granted[at % granted.length]! : undefined;
    const folderId = folder?.id ?? resolveFolderId(world, user, reference);
    const subjectIds = folder ? [...folder.grants.keys()] : [];
    const subjectId = subjectIds[subject % subjectIds.length];
    const isUser = world.model.users.some(({ id }) => id === subjectId);
    const target = subjectId ? { [isUser ? 'userId' : 'groupId']: subjectId } : toSubject(world, subject);
    const input = { folderId, ...target };
    await world.mutate(user, 'revokeAccess', input, 'folder{id accessLevel}', () =>
      expectedPayload(world, user, revokeAccess(world.model, user, input)),
    );
  },
);

const membership = fc.record({
  actor: weighted([5, fc.constant(0)], [1, actors]),
  group: fc.nat(1),
  members: fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 2 }),
});

function changeMembership(action: 'add' | 'delete') {
  const [name, count] =
    action === 'add' ? (['addToGroup', 'added'] as const) : (['removeFromGroup', 'removed'] as const);
  return operationKind(3, membership, async (world, { actor, group: index, members }) => {
    const user = findActor(world, actor);
    const group = world.model.groups[index]!;
    const users = members.map((member) => world.model.users[member]!);
    const input = { groupId: group.id, userIds: users.map(({ id }) => id) };
    await world.mutate(user, name, input, `group{id} ${count}`, () => ({
      group: { id: group.id },
      [count]: changeMembers(user, group, users, action),
    }));
  });
}

const wait = operationKind(
  6,
  fc.record({
    seconds: weighted(
      [12, fc.integer({ min: 1, max: 9 })],
      [1, fc.integer({ min: 1, max: 40 }).map((days) => days * 86_400)],
    ),
    isPurged: fc.boolean(),
  }),
  async (world, { seconds, isPurged }) => {
    await world.wait(seconds);
    if (isPurged) await world.purge();
  },
);

export const grantOperations: OperationTable = {
  grant,
  close: hideFolder,
  revoke,
  join: changeMembership('add'),
  leave: changeMembership('delete'),
  wait,
};

function toSubject({ model }: World, subject: number): { userId: string } | { groupId: string } {
  const { users, groups } = model;
  if (subject < users.length) return { userId: users[subject]!.id };
  const group = groups[subject - users.length];
  return group ? { groupId: group.id } : { groupId: model.root.id };
}

/** A user who removes their own access no longer sees the folder. */
function expectedPayload({ model }: World, user: ModelUser, folder: ModelFolder) {
  const accessLevel = levelNames[model.levelOf(user, folder)];
  return { folder: model.isSeen(user, folder) ? { id: folder.id, accessLevel } : null };
}
