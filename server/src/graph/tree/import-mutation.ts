/** Importing a whole subtree. */

import type { Imported } from '../../folders/import-folders.ts';
import type { ImportedTree } from '../../folders/import-plan.ts';
import type { Builder } from '../builder.ts';
import { changeCursor } from '../journal/change-cursor.ts';
import { change } from '../run-mutation.ts';
import { aboutGivenTexts as about } from './about-given-texts.ts';
import { nodeById } from './folder-queries.ts';
import type { FolderTypes } from './folder-type.ts';

export function defineImport(builder: Builder, { Folder }: Pick<FolderTypes, 'Folder'>): void {
  const ImportedFolder = builder.inputRef<ImportedTree>('ImportedFolder');
  ImportedFolder.implement({
    description: 'A folder with what is inside it.',
    fields: (t) => ({
      name: t.string({ required: true, description: `${about.name}; free among the siblings.` }),
      title: t.string({ description: about.title }),
      icon: t.string({ description: about.icon }),
      description: t.string({ description: about.description }),
      properties: t.field({ type: 'JSON', description: about.properties }),
      folders: t.field({ type: [ImportedFolder], description: 'What is inside it.' }),
    }),
  });

  const ImportedPath = builder.inputType('ImportedPath', {
    description:
      'A folder by its path below the parent. Folders on the way that are not listed are made, too.',
    fields: (t) => ({
      path: t.string({ required: true, description: 'The names, with slashes between: "Places/Floor 2".' }),
      title: t.string({ description: about.title }),
      icon: t.string({ description: about.icon }),
      description: t.string({ description: about.description }),
      properties: t.field({ type: 'JSON', description: about.properties }),
    }),
  });

  const Payload = builder.objectRef<Imported>('ImportFoldersPayload').implement({
    fields: (t) => ({
      parent: t.field({
        type: Folder,
        description: 'The folder into which they were imported.',
        resolve: ({ parentId }, _, context) => nodeById(context, parentId),
      }),
      folderCount: t.int({ description: 'How many folders were made.', resolve: ({ count }) => count }),
      cursor: t.string(changeCursor),
    }),
  });

  builder.mutationField('importFolders', (t) =>
    t.field({
      type: Payload,
      nullable: true,
      description:
        'Makes many folders in one call, all or none. Needs WRITE on the parent. CONFLICT if a name at the top is not free, or a folder is there twice.',
      args: {
        input: t.arg({
          required: true,
          type: builder.inputType('ImportFoldersInput', {
            fields: (f) => ({
              parentId: f.id({ description: 'The root, unless told.' }),
              tree: f.field({
                type: [ImportedFolder],
                description: 'Folders with folders inside. This or `list`.',
              }),
              list: f.field({
                type: [ImportedPath],
                description:
                  'A flat list of paths, in any order, as `exportFolders` gives it. This or `tree`.',
              }),
              expectedVersion: f.int({
                description: 'Of the parent. Refuses with CONFLICT if it has another version by now.',
              }),
            }),
          }),
        }),
      },
      resolve: (_, { input }, context) =>
        change(
          context,
          ({ folders }, caller, pace) =>
            folders.import(caller, input, { beforeRows: (count) => pace.before(count) }),
          (imported) => imported,
        ),
    }),
  );
}
