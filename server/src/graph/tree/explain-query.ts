/** Why somebody may do with a folder what they may. */

import { readAccess } from '../../access/access-book.ts';
import { accessLevelName, accessLevels } from '../../access/access-level.ts';
import { findDecidingGrant, type Grant } from '../../access/grants.ts';
import { requireUser } from '../../accounts/users.ts';
import { requireLevel } from '../../folders/change-folders.ts';
import type { Folder } from '../../folders/folders.ts';
import type { Builder, GraphContext } from '../builder.ts';
import { levelOfOneUser, type UserNode } from '../people/people-level.ts';
import type { PeopleTypes } from '../people/people-types.ts';
import type { FolderNode } from './folder-level.ts';
import { nodeById } from './folder-queries.ts';
import type { FolderTypes } from './folder-type.ts';
import { toGrantNodes, type GrantNode } from './grant-nodes.ts';
import type { GrantTypes } from './grant-type.ts';

interface Explanation {
  readonly user: UserNode;
  readonly folder: FolderNode;
  readonly level: Grant['level'];
  readonly grant: GrantNode | undefined;
  /** Undefined where it would tell of something deeper that the asker may not see. */
  readonly isPassage: boolean | undefined;
  readonly reason: string;
}

const { NONE, MANAGE } = accessLevels;

export function defineExplainAccess(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
  { User }: Pick<PeopleTypes, 'User'>,
  { Grant: GrantType }: GrantTypes,
): void {
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
        nullable: true,
        description:
          'The level is NONE, and yet the name is shown, because something deeper can be seen. Told to administrators, and to everybody about themself.',
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
}

async function explain(context: GraphContext, userId: string, folderId: string): Promise<Explanation> {
  const { reader, view, access } = context;
  const node = await nodeById(context, folderId);
  if (userId !== access.userId) requireLevel(node.folder, MANAGE);
  const user = await requireUser(reader, userId);
  const { isAdministrator } = user;
  const deciding = isAdministrator
    ? undefined
    : await findDecidingGrant(reader, userId, view.ancestry.wayTo(folderId)!);
  const [grant] = await toGrantNodes(reader, deciding ? [deciding] : []);
  const level = isAdministrator ? MANAGE : (deciding?.level ?? NONE);
  const mayTell = access.isAdministrator || userId === access.userId;
  const theirs = mayTell ? await readAccess(reader, userId, isAdministrator) : undefined;
  const isPassage = theirs && level === NONE && theirs.isVisible(folderId, level);
  const because = isAdministrator
    ? `${user.username} is an administrator, and administrators manage everything.`
    : await sentence(context, user.username, node.folder, grant);
  const passing = isPassage ? ' They may pass through it to something deeper.' : '';
  const reason = because + passing;
  return { user: levelOfOneUser(user), folder: node, level, grant, isPassage, reason };
}

async function sentence(
  context: GraphContext,
  username: string,
  folder: Folder,
  node: GrantNode | undefined,
): Promise<string> {
  if (!node) return `No grant to ${username} or to a group of theirs holds for "${folder.name}".`;
  const { grant, group } = node;
  const to = group ? `the group "${group.name}", in which ${username} is,` : username;
  const place = (await nodeById(context, grant.folderId)).folder;
  const isHere = place.id === folder.id;
  const where = isHere ? 'this very folder' : `"${place.name}", the nearest folder above with one,`;
  return `A grant to ${to} on ${where} gives ${accessLevelName(grant.level)}.`;
}
