/** Giving and taking access. */

import { accessLevels } from '../../access/access-level.ts';
import { putGrant, removeGrant, type Subject } from '../../access/grants.ts';
import { readGroup } from '../../accounts/groups.ts';
import { readUser } from '../../accounts/users.ts';
import type { Reader } from '../../database/database.ts';
import { isRowId, nobodysId } from '../../database/row-id.ts';
import { requireLevel } from '../../folders/change-folders.ts';
import { readFolder, viewTree, requireFolder } from '../../folders/folders.ts';
import { Refusal } from '../../refusal.ts';
import type { Builder } from '../builder.ts';
import { change, changeBy, noResult } from '../change.ts';
import { changeCursor } from '../journal/change-cursor.ts';
import { levelOfOne } from './folder-level.ts';
import type { FolderTypes } from './folder-type.ts';

const { MANAGE } = accessLevels;

export function defineGrantMutations(
  builder: Builder,
  { Folder, AccessLevel }: Pick<FolderTypes, 'Folder' | 'AccessLevel'>,
): void {
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
          resolve: async ({ folderId }, _, { view }) => {
            const folder = await readFolder(view, folderId);
            return folder ? levelOfOne(view, folder) : null;
          },
        }),
        cursor: t.string(changeCursor),
      }),
    });

  builder.mutationField('grantAccess', (t) =>
    t.field({
      type: Payload('GrantAccessPayload'),
      nullable: true,
      description: 'Needs MANAGE. Replaces the grant that the user or group has on this folder, if any.',
      args: { input: t.arg({ required: true, type: subjectFields }) },
      resolve: async (_, { input }, context) => {
        const { folderId, level } = input;
        await change(context, noResult, async (transaction, access) => {
          const folder = await requireFolder(viewTree(transaction, access), folderId);
          requireLevel(folder, MANAGE);
          const subject = await requireSubject(transaction, input);
          await putGrant(transaction, { folderId, subject, level }, changeBy(context));
        });
        return { folderId };
      },
    }),
  );

  builder.mutationField('revokeAccess', (t) =>
    t.field({
      type: Payload('RevokeAccessPayload'),
      nullable: true,
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
        await change(context, noResult, async (transaction, access) => {
          const folder = await requireFolder(viewTree(transaction, access), folderId);
          requireLevel(folder, MANAGE);
          const grant = { folderId, subject: oneSubject(input) };
          if (!(await removeGrant(transaction, grant, changeBy(context)))) {
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
  const id = userId || groupId;
  if (id && !(userId && groupId)) {
    // Of something that is no id there is no grant.
    return { kind: userId ? 'user' : 'group', id: isRowId(id) ? id : nobodysId };
  }
  throw new Refusal('BAD_INPUT', 'Give `userId` or `groupId`, one of them.');
}

async function requireSubject(reader: Reader, given: GivenSubject): Promise<Subject> {
  const subject = oneSubject(given);
  const found = await (subject.kind === 'user'
    ? readUser(reader, subject.id)
    : readGroup(reader, subject.id));
  if (!found) throw new Refusal('NOT_FOUND', `There is no ${subject.kind} with this id.`);
  return subject;
}
