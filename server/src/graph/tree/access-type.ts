/** Grants in the graph: who may do what where, and why. */

import { readAccess } from '../../access/access-book.ts';
import { accessLevelName, accessLevels } from '../../access/access-level.ts';
import {
  findDecidingGrant,
  putGrant,
  readGrants,
  removeGrant,
  type Grant,
  type Subject,
} from '../../access/grants.ts';
import { readGroup, type Group as GroupRow } from '../../accounts/groups.ts';
import { readUser } from '../../accounts/users.ts';
import type { Reader } from '../../database/database.ts';
import { requireLevel } from '../../folders/change-folders.ts';
import { viewTree, type Folder as FolderData } from '../../folders/folders.ts';
import { Refusal } from '../../refusal.ts';
import type { Builder, GraphContext } from '../builder.ts';
import { change } from '../change.ts';
import type { FolderNode } from './folder-level.ts';
import { nodeById } from './folder-mutations.ts';
import { requireFolder } from './folder-queries.ts';
import type { FolderTypes } from './folder-type.ts';
import { levelOfOneUser, type UserNode } from '../people/people-level.ts';
import type { PeopleTypes } from '../people/people-types.ts';

interface Explanation {
  readonly user: UserNode;
  readonly folder: FolderNode;
  readonly level: Grant['level'];
  readonly grant: Grant | undefined;
  readonly isPassage: boolean;
  readonly reason: string;
}

const { NONE, MANAGE } = accessLevels;

export function defineAccess(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
  { User, Group }: Pick<PeopleTypes, 'User' | 'Group'>,
): void {
  const GrantType = builder.objectRef<Grant>('Grant').implement({
    description:
      'A level given to a user or a group on a folder, for all that is inside until a deeper grant says otherwise.',
    fields: (t) => ({
      folder: t.field({ type: Folder, resolve: ({ folderId }, _, context) => nodeById(context, folderId) }),
      user: t.field({
        type: User,
        nullable: true,
        description: 'To whom, if it is a user.',
        resolve: ({ subject }, _, { database }) =>
          subject.kind === 'user' ? userOf(database, subject.id) : null,
      }),
      group: t.field({
        type: Group,
        nullable: true,
        description: 'To whom, if it is a group.',
        resolve: async ({ subject }, _, { database }): Promise<GroupRow | null> =>
          subject.kind === 'group' ? ((await readGroup(database, subject.id)) ?? null) : null,
      }),
      level: t.field({ type: AccessLevel, resolve: ({ level }) => level }),
      grantedAt: t.expose('grantedAt', { type: 'DateTime' }),
    }),
  });

  builder.objectField(Folder, 'access', (t) =>
    t.field({
      type: [GrantType],
      description:
        'The grants on this folder: all of them if you manage it, otherwise those to you and your groups.',
      args: {
        inherited: t.arg.boolean({
          required: true,
          defaultValue: false,
          description: 'Those on its ancestors, too, the nearest first.',
        }),
      },
      resolve: async (node, { inherited }, { view, access, budget }, info) => {
        const above = inherited ? await node.level.ancestorsOf(node) : [];
        const places = [node, ...above.toReversed()].map(({ folder }) => folder);
        const grants = await readGrants(
          view.reader,
          places.map(({ id }) => id),
        );
        const shown = places.flatMap(({ id, accessLevel }) =>
          grants.filter(
            ({ folderId, subject }) =>
              folderId === id && (accessLevel >= MANAGE || access.subjectIds.has(subject.id)),
          ),
        );
        return budget.spend(shown, info);
      },
    }),
  );

  const ExplanationType = builder.objectRef<Explanation>('AccessExplanation').implement({
    description: 'What somebody may do with a folder, and why.',
    fields: (t) => ({
      user: t.field({ type: User, resolve: ({ user }) => user }),
      folder: t.field({ type: Folder, resolve: ({ folder }) => folder }),
      level: t.field({ type: AccessLevel, resolve: ({ level }) => level }),
      grant: t.field({
        type: GrantType,
        nullable: true,
        description:
          'The grant that decides: the nearest, and of several on one folder the highest. Null if none does.',
        resolve: ({ grant }) => grant,
      }),
      isPassage: t.exposeBoolean('isPassage', {
        description: 'The level is NONE, and yet the name is shown, because something deeper can be seen.',
      }),
      reason: t.exposeString('reason', { description: 'In a sentence, for people.' }),
    }),
  });

  builder.queryField('explainAccess', (t) =>
    t.field({
      type: ExplanationType,
      description: 'For administrators, for whoever manages the folder, and for everybody about themself.',
      args: { userId: t.arg.id({ required: true }), folderId: t.arg.id({ required: true }) },
      resolve: (_, { userId, folderId }, context) => explain(context, userId, folderId),
    }),
  );

  const subjectFields = builder.inputType('GrantAccessInput', {
    fields: (f) => ({
      folderId: f.id({ required: true }),
      userId: f.id({ description: 'To a user, or' }),
      groupId: f.id({ description: 'to a group.' }),
      level: f.field({ type: AccessLevel, required: true, description: 'NONE closes what is inherited.' }),
    }),
  });

  const Payload = (name: string) =>
    builder.objectRef<{ folderId: string }>(name).implement({
      fields: (t) => ({
        folder: t.field({
          type: Folder,
          nullable: true,
          description: 'Null if you do not see it any more.',
          resolve: async ({ folderId }, _, context) => nodeById(context, folderId).catch(nullIfNotFound),
        }),
      }),
    });

  builder.mutationField('grantAccess', (t) =>
    t.field({
      type: Payload('GrantAccessPayload'),
      description: 'Needs MANAGE. Replaces the grant that the user or group has on this folder, if any.',
      args: { input: t.arg({ required: true, type: subjectFields }) },
      resolve: async (_, { input }, context) => {
        const { folderId, level } = input;
        await change(context, async (transaction, access) => {
          const folder = await requireFolder(viewTree(transaction, access), folderId);
          requireLevel(folder, MANAGE);
          const subject = await requireSubject(transaction, input);
          await putGrant(transaction, { folderId, subject, level }, context.clock.now());
        });
        return { folderId };
      },
    }),
  );

  builder.mutationField('revokeAccess', (t) =>
    t.field({
      type: Payload('RevokeAccessPayload'),
      description: 'Needs MANAGE. Takes a grant away; what is inherited from above holds again.',
      args: {
        input: t.arg({
          required: true,
          type: builder.inputType('RevokeAccessInput', {
            fields: (f) => ({
              folderId: f.id({ required: true }),
              userId: f.id({ description: 'From a user, or' }),
              groupId: f.id({ description: 'from a group.' }),
            }),
          }),
        }),
      },
      resolve: async (_, { input }, context) => {
        const { folderId } = input;
        await change(context, async (transaction, access) => {
          const folder = await requireFolder(viewTree(transaction, access), folderId);
          requireLevel(folder, MANAGE);
          const subjectId = oneSubject(input).id;
          if (!(await removeGrant(transaction, folderId, subjectId))) {
            throw new Refusal('NOT_FOUND', 'There is no such grant on this folder.');
          }
        });
        return { folderId };
      },
    }),
  );
}

interface GivenSubject {
  readonly userId?: string | null | undefined;
  readonly groupId?: string | null | undefined;
}

function oneSubject({ userId, groupId }: GivenSubject): Subject {
  if (userId && !groupId) return { kind: 'user', id: userId };
  if (groupId && !userId) return { kind: 'group', id: groupId };
  throw new Refusal('BAD_INPUT', 'Give `userId` or `groupId`, one of them.');
}

async function requireSubject(reader: Reader, given: GivenSubject): Promise<Subject> {
  const subject = oneSubject(given);
  const found = await (subject.kind === 'user'
    ? readUser(reader, subject.id)
    : readGroup(reader, subject.id));
  if (!found)
    throw new Refusal('NOT_FOUND', `There is no ${subject.kind} with the id ${JSON.stringify(subject.id)}.`);
  return subject;
}

async function userOf(reader: Reader, id: string): Promise<UserNode | null> {
  const user = await readUser(reader, id);
  return user ? levelOfOneUser(reader, user) : null;
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof Refusal && error.code === 'NOT_FOUND') return null;
  throw error;
}

async function explain(context: GraphContext, userId: string, folderId: string): Promise<Explanation> {
  const { database, view, access } = context;
  const node = await nodeById(context, folderId);
  if (userId !== access.userId) requireLevel(node.folder, MANAGE);
  const user = await readUser(database, userId);
  if (!user) throw new Refusal('NOT_FOUND', `There is no user with the id ${JSON.stringify(userId)}.`);
  const grant = await findDecidingGrant(database, userId, view.ancestry.wayTo(folderId)!);
  const level = user.isAdministrator ? MANAGE : (grant?.level ?? NONE);
  const theirs = await readAccess(database, userId, user.isAdministrator);
  const isPassage = level === NONE && theirs.isVisible(folderId, level);
  const place = grant && (await nodeById(context, grant.folderId)).folder;
  return {
    user: levelOfOneUser(database, user),
    folder: node,
    level,
    grant: user.isAdministrator ? undefined : grant,
    isPassage,
    reason: user.isAdministrator
      ? `${user.username} is an administrator, and administrators manage everything.`
      : sentence(user.username, node.folder, grant, place) +
        (isPassage ? ' They may pass through it to something deeper.' : ''),
  };
}

function sentence(
  username: string,
  folder: FolderData,
  grant: Grant | undefined,
  place: FolderData | undefined,
): string {
  if (!grant || !place) return `No grant to ${username} or to a group of theirs holds for "${folder.name}".`;
  const to = grant.subject.kind === 'user' ? username : `a group of ${username}'s`;
  const where =
    place.id === folder.id ? 'this very folder' : `"${place.name}", the nearest folder above with one`;
  return `A grant to ${to} on ${where} gives ${accessLevelName(grant.level)}.`;
}
