/** The type AccessExplanation and the query `explainAccess`. */

import { explainAccess } from '../../../folders/folder-access.ts';
import type { Grant } from '../../../access/grants.ts';
import type { Builder, GraphContext } from '../builder.ts';
import { toUserNode, type UserNode } from '../people/people-batch.ts';
import type { PeopleTypes } from '../people/people.ts';
import { toFolderNode, type FolderNode } from './folder-batch.ts';
import type { FolderTypes } from './folder.ts';
import type { GrantNode } from './grant-lists.ts';
import type { GrantTypes } from './grant.ts';

interface ExplanationNode {
  readonly user: UserNode;
  readonly folder: FolderNode;
  readonly level: Grant['level'];
  readonly grant: GrantNode | undefined;
  readonly isPassage: boolean | undefined;
  readonly reason: string;
}

export function defineExplainAccess(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
  { User }: Pick<PeopleTypes, 'User'>,
  { Grant }: GrantTypes,
): void {
  const AccessExplanation = builder.objectRef<ExplanationNode>('AccessExplanation').implement({
    description: 'What somebody may do with a folder, and why.',
    fields: (t) => ({
      user: t.field({ type: User, resolve: ({ user }) => user }),
      folder: t.field({ type: Folder, resolve: ({ folder }) => folder }),
      level: t.field({ type: AccessLevel, resolve: ({ level }) => level }),
      grant: t.field({
        type: Grant,
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
      type: AccessExplanation,
      description: 'For administrators, for whoever manages the folder, and for everybody about themself.',
      args: { userId: t.arg.id({ required: true }), folderId: t.arg.id({ required: true }) },
      resolve: (_, { userId, folderId }, context) => explain(context, userId, folderId),
    }),
  );
}

async function explain({ view }: GraphContext, userId: string, folderId: string): Promise<ExplanationNode> {
  const { deciding, user, folder, ...explanation } = await explainAccess(view, userId, folderId);
  const userNode = toUserNode(user);
  const grant = deciding && {
    grant: deciding.grant,
    folder: toFolderNode(view, deciding.folder),
    user: deciding.grant.subject.kind === 'user' ? userNode : null,
    group: deciding.group ?? null,
  };
  return { ...explanation, user: userNode, folder: toFolderNode(view, folder), grant };
}
