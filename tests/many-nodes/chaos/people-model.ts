/** A model of groups, members and grants. Models are immutable. */

import type { Variables } from '../../support/graph-testbed.ts';
import type { Random } from './random.ts';

interface Group {
  readonly name: string;
  readonly members: readonly string[];
}

/** Groups by id. A new group has the temporary id `new`. Grants by folder and subject. */
export interface People {
  readonly groups: ReadonlyMap<string, Group>;
  readonly grants: ReadonlyMap<string, string>;
}

export interface Change {
  /** The mutation. */
  readonly name: string;
  readonly input: Variables;
  readonly after: People;
}

interface ChangeContext {
  readonly random: Random;
  /** A unique name. */
  readonly name: string;
  readonly shelfIds: readonly string[];
  readonly guestIds: readonly string[];
}

const levels = ['NONE', 'READ', 'WRITE', 'MANAGE'];
const maxGroups = 4;

export function chooseChange({ groups, grants }: People, context: ChangeContext): Change {
  const { random, name, shelfIds, guestIds } = context;
  const ids = [...groups.keys()];
  if (ids.length < 2 || (ids.length < maxGroups && random.chance(0.1))) {
    return {
      name: 'createGroup',
      input: { name },
      after: { groups: new Map(groups).set('new', { name, members: [] }), grants },
    };
  }
  const groupId = random.pick(ids);
  const group = groups.get(groupId)!;
  const draw = random.below(20);
  if (draw === 0) {
    const remainingGrants = [...grants].filter(([key]) => !key.endsWith(groupId));
    return {
      name: 'deleteGroup',
      input: { id: groupId },
      after: { groups: withoutEntry(groups, groupId), grants: new Map(remainingGrants) },
    };
  }
  if (draw < 3) {
    return {
      name: 'updateGroup',
      input: { id: groupId, name },
      after: { groups: new Map(groups).set(groupId, { ...group, name }), grants },
    };
  }
  if (draw < 10) {
    const userId = random.pick(guestIds);
    const isMember = group.members.includes(userId);
    const members = isMember
      ? group.members.filter((each) => each !== userId)
      : [...group.members, userId].sort();
    return {
      name: isMember ? 'removeFromGroup' : 'addToGroup',
      input: { groupId, userIds: [userId] },
      after: { groups: new Map(groups).set(groupId, { ...group, members }), grants },
    };
  }
  const folderId = random.pick(shelfIds);
  const isForGroup = random.chance(0.5);
  const subjectId = isForGroup ? groupId : random.pick(guestIds);
  const subject = isForGroup ? { groupId } : { userId: subjectId };
  const key = `${folderId} ${subjectId}`;
  if (grants.has(key) && random.chance(0.6)) {
    return {
      name: 'revokeAccess',
      input: { folderId, ...subject },
      after: { groups, grants: withoutEntry(grants, key) },
    };
  }
  const level = random.pick(levels.filter((each) => each !== grants.get(key)));
  return {
    name: 'grantAccess',
    input: { folderId, ...subject, level },
    after: { groups, grants: new Map(grants).set(key, level) },
  };
}

/** Replaces the temporary id of a new group if the group exists. */
export function withGroupId({ groups, grants }: People, actual: People): People {
  const newGroup = groups.get('new');
  const id = newGroup && [...actual.groups].find(([, { name }]) => name === newGroup.name)?.[0];
  return id ? { groups: withoutEntry(new Map(groups).set(id, newGroup), 'new'), grants } : { groups, grants };
}

export function differenceOf(expected: People, actual: People): string | undefined {
  const text = ({ groups, grants }: People) => JSON.stringify([[...groups].sort(), [...grants].sort()]);
  return text(expected) === text(actual) ? undefined : `${text(actual)} instead of ${text(expected)}`;
}

/**
 * Returns the level of a user on a shelf, or undefined if the shelf is not visible. Only grants on the shelf
 * itself count, because its ancestors have none.
 */
export function levelOf({ groups, grants }: People, userId: string, folderId: string): string | undefined {
  const ownIds = [
    userId,
    ...[...groups].filter(([, { members }]) => members.includes(userId)).map(([id]) => id),
  ];
  const grantedLevels = ownIds.flatMap((id) => grants.get(`${folderId} ${id}`) ?? []);
  const level = levels.findLast((each) => grantedLevels.includes(each)) ?? 'NONE';
  return level === 'NONE' ? undefined : level;
}

function withoutEntry<T>(all: ReadonlyMap<string, T>, id: string): Map<string, T> {
  return new Map([...all].filter(([each]) => each !== id));
}
