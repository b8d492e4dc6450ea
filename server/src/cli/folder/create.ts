/** `espalier folder create` and `duplicate`: new folders. */

import type { Client, FolderDetails, PathToImport } from '@espalier/client';
import { apiCommand } from '../api/connection.ts';
import { folderWord } from '../api/resolve-names.ts';
import { failure, isClientError } from '../failures.ts';
import { escaped, print, printJson } from '../terminal/output.ts';
import { childPath, findFolder, findNearest, splitPath } from './folder-path.ts';
import { textOptions, toAssignments } from './folder-options.ts';

type Texts = Omit<PathToImport, 'path'>;

export const create = apiCommand({
  about: 'Create folders',
  aliases: ['mkdir', 'add'],
  words: [{ ...folderWord, about: 'The path of the new folder', isRepeatable: true }],
  options: {
    parents: { short: 'p', about: 'Also create missing parents, and accept folders that already exist' },
    ...textOptions,
  },
  details: `With -p, creates each folder together with its missing parents, or none of them. Stops at the first failure, and keeps the
folders created before it.`,
  examples: [
    'espalier folder create /Places/Harbour --title "Harbour campus"',
    'espalier folder create -p /Places/Harbour/A --property floors=3 --icon 🏢',
  ],
  validate: ({ words, options }) => {
    words.forEach(splitPath);
    toAssignments(options.property, 'property');
  },
  async run({ client, signal }, { words, options }) {
    const { title, icon, description, property } = options;
    const properties = property.length > 0 ? toAssignments(property, 'property') : undefined;
    const texts = { title, icon, description, properties };
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

interface CreatedFolder {
  readonly folder: FolderDetails;
  readonly count: number;
}

function describeResult({ folder, count }: CreatedFolder): string {
  if (count === 0) return escaped`${folder.path} already exists.`;
  return escaped`Created ${folder.path}${count > 1 ? ` (${count} folders)` : ''}.`;
}

async function make(client: Client, path: string, texts: Texts): Promise<FolderDetails> {
  const { parentPath, name } = splitPath(path);
  const parent = await findFolder(client, parentPath);
  return client.folders.create({ ...texts, parentId: parent.id, name }).catch((error: unknown) => {
    const isTaken =
      isClientError(error, 'CONFLICT') && error.errors?.[0]?.extensions?.['inputField'] === 'name';
    if (!isTaken) throw error;
    const text = `${childPath(parent.path, name)} already exists. To accept an existing folder, use -p.`;
    throw failure('CONFLICT', text, { cause: error });
  });
}

/** Keeps folders that another client has created in the meantime. */
async function makePath(
  client: Client,
  path: string,
  texts: Texts,
  signal: AbortSignal,
): Promise<CreatedFolder> {
  const { nearest, missing } = await findNearest(client, path);
  if (missing.length === 0) return { folder: nearest, count: 0 };
  const list = [{ ...texts, path: missing.join('/') }];
  const options = { parentId: nearest.id, onExisting: 'KEEP', signal } as const;
  const { createdCount } = await client.folders.importList(list, options);
  return { folder: await findFolder(client, path), count: createdCount };
}

export const duplicate = apiCommand({
  about: 'Copy a folder with all visible folders inside it',
  aliases: ['cp'],
  words: [folderWord],
  options: {
    to: { value: 'path', about: 'Copy into this folder instead of the same parent' },
    name: { value: 'name', about: 'The name of the copy; the default in the same parent is "NAME (copy)"' },
  },
  details: 'Copies all folders or none. Grants are not copied.',
  examples: [
    'espalier folder duplicate "/Places/Floor 2" --name "Floor 3"',
    'espalier folder duplicate /Templates/Building --to /Places',
  ],
  async run({ client, signal }, { words: [input], options: { to, name } }) {
    const { id, path } = await findFolder(client, input);
    const parentId = to === undefined ? undefined : (await findFolder(client, to)).id;
    const copy = await client.folders.duplicate(id, { parentId, name, signal });
    return { data: copy, text: escaped`Copied ${path} to ${copy.path}.` };
  },
});
