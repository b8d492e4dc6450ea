/** Giving and taking access. */

import { readFolder } from '../../folders/folders.ts';
import type { Builder } from '../builder.ts';
import { changeCursor } from '../journal/change-cursor.ts';
import { change } from '../run-mutation.ts';
import { levelOfOne } from './folder-level.ts';
import type { FolderTypes } from './folder-type.ts';

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
      resolve: (_, { input }, context) =>
        change(
          context,
          ({ grants }, caller) => grants.set(caller, input),
          () => ({ folderId: input.folderId }),
        ),
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
      resolve: (_, { input }, context) =>
        change(
          context,
          ({ grants }, caller) => grants.remove(caller, input),
          () => ({ folderId: input.folderId }),
        ),
    }),
  );
}
