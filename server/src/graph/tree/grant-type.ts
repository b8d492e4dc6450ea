/** The graph's type Grant, and the grants on a folder. */

import type { GraphQLResolveInfo } from 'graphql';
import { accessLevels } from '../../access/access-level.ts';
import type { Grant } from '../../access/grants.ts';
import type { Builder, GraphContext } from '../builder.ts';
import { requireAdministrator } from '../change.ts';
import type { PeopleTypes } from '../people/people-types.ts';
import { detailsOf, restricted } from '../people/user-type.ts';
import type { FolderNode } from './folder-level.ts';
import type { FolderTypes } from './folder-type.ts';
import { nodeById } from './folder-queries.ts';
import type { GrantNode } from './grant-nodes.ts';
import { readPlacedGrants, type PlacedGrant } from './grants-to.ts';

export type GrantTypes = ReturnType<typeof defineGrant>;

interface GrantOnFolder extends GrantNode {
  /** Where that is known already. */
  readonly folder?: FolderNode;
}

export function defineGrant(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
  { User, Group }: Pick<PeopleTypes, 'User' | 'Group'>,
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

  builder.objectField(User, 'grants', (t) =>
    t.field({
      type: [GrantType],
      nullable: true,
      description: `What was granted to the user themself, not to groups, in the order of the tree; on folders that you see. ${restricted}`,
      resolve: async (node, _, context, info) => {
        const { id } = detailsOf(node, context.access);
        // Of others, nobody else is told.
        const ids = context.access.isAdministrator ? node.level.ids : [id];
        const placed = await node.level.together('grants', () => grantsTo(context, ids, info));
        const own = (placed.get(id) ?? []).map((each) => ({ ...each, user: node, group: null }));
        return context.budget.spend(own, info);
      },
    }),
  );

  builder.objectField(Group, 'grants', (t) =>
    t.field({
      type: [GrantType],
      nullable: true,
      description:
        'What was granted to the group, in the order of the tree. Only for administrators: null otherwise, with the error FORBIDDEN.',
      resolve: async (group, _, context, info) => {
        requireAdministrator(context.access);
        const placed = await grantsTo(context, [group.id], info);
        const own = (placed.get(group.id) ?? []).map((each) => ({ ...each, user: null, group }));
        return context.budget.spend(own, info);
      },
    }),
  );

  return { Grant: GrantType };
}

async function grantsTo(
  { view, budget }: GraphContext,
  subjectIds: readonly string[],
  info: GraphQLResolveInfo,
): Promise<ReadonlyMap<string, readonly PlacedGrant[]>> {
  const placed = await readPlacedGrants(view, subjectIds, budget.foldersLeft);
  if (!placed) throw budget.exceeded(info);
  return placed;
}
