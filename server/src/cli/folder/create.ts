/** `espalier folder create`: creates folders. */

import { EspalierError, type Client, type FolderDetails, type PathToImport } from '@espalier/client';
import { apiCommand } from '../api/connection.ts';
import { folderWord } from '../api/resolve-names.ts';
import { json } from '../command.ts';
import { escapeControls, print, printJson } from '../terminal/output.ts';
import { findFolder, findNearest, splitPath } from './folder-path.ts';
import { textOptions, toAssignments } from './folder-options.ts';
import { importList } from './import/import-upload.ts';

type Texts = Omit<PathToImport, 'path'>;

export const create = apiCommand({
  about: 'Create folders',
  aliases: ['mkdir', 'add'],
  words: [{ ...folderWord, about: 'The path of the new folder', isRepeatable: true }],
  options: {
    parents: { short: 'p', about: 'Also create missing parents, and accept folders that already exist' },
    ...textOptions,
    json,
  },
  details: 'With -p, creates a folder and its missing parents in one step: all or none.',
  examples: [
    'espalier folder create /Places/Harbour --title "Harbour campus"',
    'espalier folder create -p /Places/Harbour/A --property floors=3 --icon 🏢',
  ],
  validate: ({ words, options }) => {
    words.forEach(splitPath);
    toAssignments(options.property, 'property');
  },
  async run({ client, signal }, { words, options }) {
    const { title, icon, description } = options;
    const texts: Texts = {
      ...(title !== undefined && { title }),
      ...(icon !== undefined && { icon }),
      ...(description !== undefined && { description }),
      ...(options.property.length > 0 && { properties: toAssignments(options.property, 'property') }),
    };
    const folders: FolderDetails[] = [];
    for (const path of words) {
      const made = options.parents
        ? await makePath(client, path, texts, signal)
        : { folder: await make(client, path, texts), count: 1 };
      folders.push(made.folder);
      if (!options.json) await print(describeResult(made));
    }
    if (options.json) await printJson(folders);
  },
});

interface Made {
  readonly folder: FolderDetails;
  readonly count: number;
}

function describeResult({ folder, count }: Made): string {
  if (count === 0) return `${escapeControls(folder.path)} already exists.`;
  return `Created ${escapeControls(folder.path)}${count > 1 ? ` (${count} folders)` : ''}.`;
}

async function make(client: Client, path: string, texts: Texts): Promise<FolderDetails> {
  const { parentPath, name } = splitPath(path);
  const parent = await findFolder(client, parentPath);
  return client.folders.create({ ...texts, parentId: parent.id, name });
}

async function makePath(client: Client, path: string, texts: Texts, signal: AbortSignal): Promise<Made> {
  const { nearest, missing } = await findNearest(client, path);
  if (missing.length === 0) return { folder: nearest, count: 0 };
  try {
    const list = [{ ...texts, path: missing.join('/') }];
    const count = await importList(client, { parentId: nearest.id, list }, { signal });
    return { folder: await findFolder(client, path), count };
  } catch (error) {
    // Another client created some of the parents in the meantime.
    const isTaken = error instanceof EspalierError && error.code === 'CONFLICT';
    const isNearer = isTaken && (await findNearest(client, path)).missing.length < missing.length;
    if (!isNearer) throw error;
    return makePath(client, path, texts, signal);
  }
}
