/** The graph's type Grant, and the grants on a folder. */

import { accessLevels } from '../../access/access-level.ts';
import type { Grant } from '../../access/grants.ts';
import type { Builder } from '../builder.ts';
import type { PeopleTypes } from '../people/people-types.ts';
import type { FolderTypes } from './folder-type.ts';
import { nodeById } from './folder-queries.ts';
import type { GrantNode } from './grant-nodes.ts';

export type GrantTypes = ReturnType<typeof defineGrant>;

export function defineGrant(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
  { User, Group }: Pick<PeopleTypes, 'User' | 'Group'>,
) {
  const GrantType = builder.objectRef<GrantNode>('Grant').implement({
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
      resolve: async (node, { inherited }, { access, budget }, info) => {
        const above = inherited ? await node.ancestors : [];
        const grants = await node.level.grants(inherited);
        const shown = [node, ...above.toReversed()].flatMap((folder) => {
          const isShown = ({ subject }: Grant) =>
            folder.folder.accessLevel >= accessLevels.MANAGE || access.subjectIds.has(subject.id);
          return (grants.get(folder.id) ?? [])
            .filter(({ grant }) => isShown(grant))
            .map((each) => ({ ...each, folder }));
        });
        return budget.spend(shown, info);
      },
    }),
  );

  return { Grant: GrantType };
}
