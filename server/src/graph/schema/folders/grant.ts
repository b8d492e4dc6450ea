/** The type Grant, the fields that list grants, the query `explainAccess`, and the mutations that grant and revoke access. */

import type { ObjectFieldBuilder } from '@pothos/core';
import { accessLevels, type AccessLevel as Level } from '../../../access/access.ts';
import { requireAdministrator } from '../../../accounts/users.ts';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import { explainAccess } from '../../../folders/folder-grants.ts';
import { Refusal } from '../../../refusal.ts';
import { longField, personalField } from '../../field-marks.ts';
import {
  AccessLevel,
  builder,
  Folder,
  Group,
  User,
  type ExtendedTypes,
  type GraphContext,
} from '../builder.ts';
import { defineConnection, pageArguments } from '../connections/relay-connection-types.ts';
import { KeysetConnection } from '../connections/relay-connection.ts';
import { changeCursor, defineMutation } from '../mutation.ts';
import { toUserNode, type UserNode } from '../people/people-batch.ts';
import {
  forAdministrators,
  forAdministratorsAndSelf,
  readableIds,
  requireDetails,
} from '../people/people-types.ts';
import { findFolderNode, toFolderNode, type FolderNode } from './folder-batch.ts';
import {
  accessList,
  effectiveAccessList,
  grantListTo,
  grantsToSubjects,
  type EffectiveAccessNode,
  type GrantNode,
} from './grant-lists.ts';

const Grant = builder.objectRef<GrantNode>('Grant').implement({
  description:
    'The access level of a user or a group on a folder. It also applies to the folders inside, unless a grant on a deeper folder overrides it.',
  fields: (t) => ({
    folder: t.expose('folder', { type: Folder, description: 'The folder of the grant.' }),
    user: t.expose('user', {
      type: User,
      nullable: true,
      description: 'The user who has the grant. Null for a grant to a group.',
    }),
    group: t.expose('group', {
      type: Group,
      nullable: true,
      description: 'The group that has the grant. Null for a grant to a user.',
    }),
    level: t.expose('level', {
      type: AccessLevel,
      description: 'The granted access level. NONE blocks the access that is inherited from the ancestors.',
    }),
    grantedAt: t.expose('grantedAt', { type: 'DateTime', description: 'The time of the grant.' }),
  }),
});
const GrantConnection = defineConnection(Grant, 'grants');

builder.objectField(Folder, 'access', (t) =>
  t.field({
    extensions: personalField,
    type: GrantConnection,
    description:
      'The grants on this folder, newest first. Without MANAGE on the folder, you see only the grants to you and your groups.',
    args: {
      inherited: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Also return the grants on the ancestors, with the nearest folder first.',
      }),
      ...pageArguments(t.arg),
    },
    resolve: (node, { inherited, ...page }, context, info) =>
      whenDone(
        accessList(node, inherited, context, { budget: context.budget, info }),
        (list) => new KeysetConnection(list, page),
      ),
  }),
);

const EffectiveAccess = builder.objectRef<EffectiveAccessNode>('EffectiveAccess').implement({
  description: 'The access level of one user on a folder, and the grant that decides it.',
  fields: (t) => ({
    user: t.expose('user', { type: User, description: 'The user who has access.' }),
    level: t.expose('level', {
      type: AccessLevel,
      description: 'The access level of the user: READ, WRITE or MANAGE.',
    }),
    grant: t.expose('grant', {
      type: Grant,
      nullable: true,
      description:
        'The grant that decides: the highest grant on the nearest folder. Null for administrators, who have MANAGE on every folder.',
    }),
  }),
});
const EffectiveAccessConnection = defineConnection(EffectiveAccess, 'users with access');

builder.objectField(Folder, 'effectiveAccess', (t) =>
  t.field({
    type: EffectiveAccessConnection,
    nullable: true,
    description:
      'The users who have READ or more on this folder, ordered by user name: administrators, and users with grants. The grants can be on this folder or on an ancestor, and to the user or to a group. Includes disabled users, because their grants apply again as soon as they are enabled. Requires MANAGE: without it, the field is null with the error FORBIDDEN.',
    args: pageArguments(t.arg),
    extensions: longField,
    resolve: (node, page, context, info) => {
      if (node.folder.accessLevel < accessLevels.MANAGE) {
        throw new Refusal(
          'FORBIDDEN',
          'You need the access level MANAGE on this folder to list the users with access.',
        );
      }
      return whenDone(
        effectiveAccessList(node, context, { budget: context.budget, info }),
        (list) => new KeysetConnection(list, page),
      );
    },
  }),
);

builder.objectField(User, 'grants', (t) =>
  t.field({
    extensions: personalField,
    type: GrantConnection,
    nullable: true,
    description: `The grants to the user on folders that you see, newest first, without the grants to groups. ${forAdministratorsAndSelf}`,
    args: pageArguments(t.arg),
    resolve: (user, page, { access, view, budget }, info) => {
      const { batch } = requireDetails(user, access);
      const grants = batch.readOnce('grants', () => grantsToSubjects(view, readableIds(user, access)));
      return new KeysetConnection(grantListTo({ user, group: null }, grants, view, { budget, info }), page);
    },
  }),
);

builder.objectField(Group, 'grants', (t) =>
  t.field({
    type: GrantConnection,
    nullable: true,
    description: `The grants to the group, newest first. ${forAdministrators}`,
    args: pageArguments(t.arg),
    resolve: (group, page, { access, view, budget }, info) => {
      requireAdministrator(access);
      const grants = grantsToSubjects(view, [group.id]);
      return new KeysetConnection(grantListTo({ user: null, group }, grants, view, { budget, info }), page);
    },
  }),
);

interface ExplanationNode {
  readonly user: UserNode;
  readonly folder: FolderNode;
  readonly level: Level;
  readonly grant: GrantNode | undefined;
  readonly isPassage: boolean | undefined;
  readonly reason: string;
}

const AccessExplanation = builder.objectRef<ExplanationNode>('AccessExplanation').implement({
  description: 'The access level of a user on a folder, and the reason for it.',
  fields: (t) => ({
    user: t.expose('user', { type: User, description: 'The user.' }),
    folder: t.expose('folder', { type: Folder, description: 'The folder.' }),
    level: t.expose('level', {
      type: AccessLevel,
      description: 'The access level of the user on the folder.',
    }),
    grant: t.expose('grant', {
      type: Grant,
      nullable: true,
      description:
        'The grant that decides: the highest grant on the nearest folder. Null if no grant decides.',
    }),
    isPassage: t.exposeBoolean('isPassage', {
      nullable: true,
      description:
        'Whether the user sees the name of the folder despite the level NONE, because the user may read a folder inside it. For users other than yourself, null unless you are an administrator.',
    }),
    reason: t.exposeString('reason', { description: 'A sentence with the reason, for display.' }),
  }),
});

builder.queryField('explainAccess', (t) =>
  t.field({
    type: AccessExplanation,
    description:
      'Explain the access of a user to a folder. Requires MANAGE on the folder, except for your own access.',
    args: {
      userId: t.arg.id({ required: true, description: 'The id of the user.' }),
      folderId: t.arg.id({ required: true, description: 'The id of the folder.' }),
    },
    resolve: (_, { userId, folderId }, context) => explain(context, userId, folderId),
  }),
);

async function explain({ view }: GraphContext, userId: string, folderId: string): Promise<ExplanationNode> {
  const { decidingGrant, user, folder, ...explanation } = await explainAccess(view, userId, folderId);
  const userNode = toUserNode(user);
  const grant = decidingGrant && {
    ...decidingGrant.grant,
    folder: toFolderNode(view, decidingGrant.folder),
    user: decidingGrant.grant.subjectKind === 'user' ? userNode : null,
    group: decidingGrant.group ?? null,
  };
  return { ...explanation, user: userNode, folder: toFolderNode(view, folder), grant };
}

const grantPayload = (t: ObjectFieldBuilder<ExtendedTypes, { folderId: string }>) => ({
  folder: t.field({
    type: Folder,
    nullable: true,
    description: 'The folder. Null if you no longer see it.',
    resolve: ({ folderId }, _, { view }) => findFolderNode(view, folderId),
  }),
  cursor: t.string(changeCursor),
});

const ofUser = 'The id of the user. Set either `userId` or `groupId`.';
const ofGroup = 'The id of the group. Set either `userId` or `groupId`.';

defineMutation('grantAccess', {
  description:
    'Grant a user or a group access to a folder. Replaces their current grant on this folder. Requires MANAGE.',
  input: (t) => ({
    folderId: t.id({ required: true, description: 'The id of the folder.' }),
    userId: t.id({ description: ofUser }),
    groupId: t.id({ description: ofGroup }),
    level: t.field({
      type: AccessLevel,
      required: true,
      description:
        'The access level. NONE blocks the access that the user or group inherits from the ancestors.',
    }),
  }),
  change: ({ grants }, caller, input) => grants.set(caller, input),
  toPayload: (_, __, { folderId }) => ({ folderId }),
  payload: grantPayload,
  last: ['payload'],
});

defineMutation('revokeAccess', {
  description:
    'Remove the grant of a user or a group on a folder. The grants on the ancestors then apply. Requires MANAGE.',
  input: (t) => ({
    folderId: t.id({ required: true, description: 'The id of the folder.' }),
    userId: t.id({ description: ofUser }),
    groupId: t.id({ description: ofGroup }),
  }),
  change: ({ grants }, caller, input) => grants.remove(caller, input),
  toPayload: (_, __, { folderId }) => ({ folderId }),
  payload: grantPayload,
  last: ['input', 'payload'],
});
