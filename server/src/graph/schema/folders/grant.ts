/** The type Grant, the fields that list grants, and the mutations that grant and revoke access. */

import { requireAdministrator } from '../../../accounts/users.ts';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import { change } from '../../mutations.ts';
import { personalField } from '../../document-fields.ts';
import { defineMutation, type Builder, type ObjectRefOf } from '../builder.ts';
import {
  defineKeysetConnection,
  KeysetConnection,
  pageArguments,
  type PageInfoRef,
} from '../connections/keyset-connection.ts';
import { changeCursor } from '../journal/references.ts';
import type { PeopleTypes } from '../people/people.ts';
import { readableIds, requireDetails, restricted } from '../people/user.ts';
import { findFolderNode } from './folder-batch.ts';
import type { FolderTypes } from './folder.ts';
import { accessList, grantListTo, pagesTo, type GrantNode } from './grant-lists.ts';

export type GrantTypes = ReturnType<typeof defineGrant>;

export function defineGrant(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
  { User, Group }: Pick<PeopleTypes, 'User' | 'Group'>,
  { PageInfo }: { readonly PageInfo: PageInfoRef },
) {
  const Grant = builder.objectRef<GrantNode>('Grant').implement({
    description:
      'A level given to a user or a group on a folder, for all that is inside until a deeper grant says otherwise.',
    fields: (t) => ({
      folder: t.field({ type: Folder, resolve: ({ folder }) => folder }),
      user: t.field({
        type: User,
        nullable: true,
        description: 'To whom, if it is a user.',
        resolve: ({ user }) => user,
      }),
      group: t.field({
        type: Group,
        nullable: true,
        description: 'To whom, if it is a group.',
        resolve: ({ group }) => group,
      }),
      level: t.field({ type: AccessLevel, resolve: ({ grant }) => grant.level }),
      grantedAt: t.field({ type: 'DateTime', resolve: ({ grant }) => grant.grantedAt }),
    }),
  });
  const GrantConnection = defineKeysetConnection(builder, { PageInfo, Node: Grant, plural: 'grants' });
  defineFolderAccess(builder, Folder, GrantConnection);
  defineGrantLists(builder, { User, Group }, GrantConnection);
  return { Grant };
}

type GrantConnection = ObjectRefOf<KeysetConnection<GrantNode>>;

function defineFolderAccess(
  builder: Builder,
  Folder: FolderTypes['Folder'],
  GrantConnection: GrantConnection,
): void {
  builder.objectField(Folder, 'access', (t) =>
    t.field({
      extensions: personalField,
      type: GrantConnection,
      description:
        'The grants on this folder, the newest first: all of them if you manage it, otherwise those to you and your groups.',
      args: {
        inherited: t.arg.boolean({
          required: true,
          defaultValue: false,
          description: 'Also those on its ancestors, the nearest folder first.',
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
}

function defineGrantLists(
  builder: Builder,
  { User, Group }: Pick<PeopleTypes, 'User' | 'Group'>,
  GrantConnection: GrantConnection,
): void {
  builder.objectField(User, 'grants', (t) =>
    t.field({
      extensions: personalField,
      type: GrantConnection,
      nullable: true,
      description: `The grants to the user, without those to groups, on folders that you see; the newest first. ${restricted}`,
      args: pageArguments(t.arg),
      resolve: (node, page, context, info) => {
        const { access, view, budget } = context;
        const { id } = requireDetails(node, access);
        const pages = node.batch.readOnce('grants', () => pagesTo(view, readableIds(node, access)));
        const list = grantListTo({ id, user: node, group: null }, pages, context, { budget, info });
        return new KeysetConnection(list, page);
      },
    }),
  );

  builder.objectField(Group, 'grants', (t) =>
    t.field({
      type: GrantConnection,
      nullable: true,
      description:
        'The grants to the group, the newest first. Only for administrators: null otherwise, with the error FORBIDDEN.',
      args: pageArguments(t.arg),
      resolve: (group, page, context, info) => {
        const { access, view, budget } = context;
        requireAdministrator(access);
        const { id } = group;
        const list = grantListTo({ id, user: null, group }, pagesTo(view, [id]), context, { budget, info });
        return new KeysetConnection(list, page);
      },
    }),
  );
}

export function defineGrantMutations(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
): void {
  const payload = (name: string) =>
    builder.objectRef<{ folderId: string }>(name).implement({
      fields: (t) => ({
        folder: t.field({
          type: Folder,
          nullable: true,
          description: 'Null if you do not see it any more.',
          resolve: ({ folderId }, _, { view }) => findFolderNode(view, folderId),
        }),
        cursor: t.string(changeCursor),
      }),
    });

  defineMutation(builder, 'grantAccess', {
    type: () => payload('GrantAccessPayload'),
    description: 'Needs MANAGE. Replaces the grant that the user or group has on this folder, if any.',
    input: builder.inputType('GrantAccessInput', {
      fields: (f) => ({
        folderId: f.id({ required: true }),
        userId: f.id({ description: 'To a user, or' }),
        groupId: f.id({ description: 'to a group.' }),
        level: f.field({ type: AccessLevel, required: true, description: 'NONE closes what is inherited.' }),
      }),
    }),
    resolve: (input, context) =>
      change(
        context,
        ({ grants }, caller) => grants.set(caller, input),
        () => ({ folderId: input.folderId }),
      ),
  });

  defineMutation(builder, 'revokeAccess', {
    type: () => payload('RevokeAccessPayload'),
    description: 'Needs MANAGE. Takes a grant away; what is inherited from above holds again.',
    input: () =>
      builder.inputType('RevokeAccessInput', {
        fields: (f) => ({
          folderId: f.id({ required: true }),
          userId: f.id({ description: 'From a user, or' }),
          groupId: f.id({ description: 'from a group.' }),
        }),
      }),
    resolve: (input, context) =>
      change(
        context,
        ({ grants }, caller) => grants.remove(caller, input),
        () => ({ folderId: input.folderId }),
      ),
  });
}
