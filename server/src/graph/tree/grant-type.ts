/** The graph's type Grant, and the grants on a folder. */

import { whenDone } from '../../database/database.ts';
import type { Builder } from '../builder.ts';
import { requireAdministrator } from '../../accounts/administrator.ts';
import { personalField } from '../shared-answers.ts';
import { defineKeysetConnection, pageDescriptions } from '../lists/keyset-connection-type.ts';
import { KeysetConnection } from '../lists/keyset-connection.ts';
import type { PageInfoRef } from '../page-info.ts';
import type { PeopleTypes } from '../people/people-types.ts';
import { detailsOf, readableIds, restricted } from '../people/user-type.ts';
import type { FolderTypes } from './folder-type.ts';
import { nodeById } from './folder-queries.ts';
import { accessList, grantListTo, pagesTo, type GrantOnFolder } from './grant-lists.ts';

export type GrantTypes = ReturnType<typeof defineGrant>;

export function defineGrant(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
  { User, Group }: Pick<PeopleTypes, 'User' | 'Group'>,
  { PageInfo }: { readonly PageInfo: PageInfoRef },
) {
  const GrantType = builder.objectRef<GrantOnFolder>('Grant').implement({
    description:
      'A level given to a user or a group on a folder, for all that is inside until a deeper grant says otherwise.',
    fields: (t) => ({
      folder: t.field({
        type: Folder,
        resolve: ({ grant, folder }, _, context) => folder ?? nodeById(context, grant.folderId),
      }),
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

  const GrantConnection = defineKeysetConnection(builder, { PageInfo, Node: GrantType, plural: 'grants' });

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
        first: t.arg.int({ description: pageDescriptions.first }),
        after: t.arg.string({ description: pageDescriptions.after }),
      },
      resolve: (node, { inherited, ...page }, context, info) =>
        whenDone(
          accessList(node, inherited, context, { budget: context.budget, info }),
          (list) => new KeysetConnection(list, page),
        ),
    }),
  );

  builder.objectField(User, 'grants', (t) =>
    t.field({
      extensions: personalField,
      type: GrantConnection,
      nullable: true,
      description: `The grants to the user, without those to groups, on folders that you see; the newest first. ${restricted}`,
      args: {
        first: t.arg.int({ description: pageDescriptions.first }),
        after: t.arg.string({ description: pageDescriptions.after }),
      },
      resolve: (node, page, context, info) => {
        const { access, view, budget } = context;
        const { id } = detailsOf(node, access);
        const pages = node.level.together('grants', () => pagesTo(view, readableIds(node, access)));
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
      args: {
        first: t.arg.int({ description: pageDescriptions.first }),
        after: t.arg.string({ description: pageDescriptions.after }),
      },
      resolve: (group, page, context, info) => {
        const { access, view, budget } = context;
        requireAdministrator(access);
        const { id } = group;
        const list = grantListTo({ id, user: null, group }, pagesTo(view, [id]), context, { budget, info });
        return new KeysetConnection(list, page);
      },
    }),
  );

  return { Grant: GrantType };
}
