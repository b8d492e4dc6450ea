/** `espalier folder delete`, `trash`, `restore` and `purge`: deleted folders, which can be restored for some days. */

import { failure, isClientError } from '../failures.ts';
import { apiCommand } from '../api/connection.ts';
import { itemsOf, listReader, pageInfo } from '../api/pages.ts';
import { folderWord, idIn, type ApiConnection } from '../api/resolve-names.ts';
import {
  countFolders,
  escapeControls,
  escaped,
  formatNumber,
  print,
  printJson,
  toMinute,
} from '../terminal/output.ts';
import { confirm, yesOption } from '../terminal/prompts.ts';
import { childPath, findFolder } from './folder-path.ts';

const idWord = { name: 'id', about: "The id of the folder, from 'espalier folder trash'" };

export const remove = apiCommand({
  about: 'Move folders to the trash',
  aliases: ['rm'],
  words: [{ ...folderWord, isRepeatable: true }],
  options: { recursive: { short: 'r', about: 'Also delete the folders inside' } },
  details:
    "Deleted folders stay in the trash for some days. Run 'espalier folder trash' to list them and 'espalier folder restore <id>' to restore one.",
  examples: ['espalier folder delete /Places/Harbour', 'espalier folder delete -r /Archive /Drafts'],
  async run({ client }, { words, options: { recursive, json: isJson } }) {
    // Finds all folders first, so that a wrong path deletes nothing.
    const folders = [];
    for (const path of words) folders.push(await findFolder(client, path));
    const deleted = [];
    for (const { id, path } of folders) {
      const folderCount = await client.folders.delete(id, { recursive }).catch((error: unknown) => {
        throw recursive ? error : suggestRecursive(error, path);
      });
      deleted.push({ id, path, folderCount });
      if (isJson) continue;
      const many = folderCount === 1 ? '' : ` (${formatNumber(folderCount)} folders)`;
      await print(escaped`Deleted ${path}${many}. To restore it, run 'espalier folder restore ${id}'.`);
    }
    if (isJson) await printJson(deleted);
  },
});

function suggestRecursive(error: unknown, path: string): unknown {
  if (!isClientError(error, 'CONFLICT')) return error;
  return failure('CONFLICT', `${path} contains folders. To delete them as well, use -r.`);
}

interface TrashedFolder {
  readonly folderId: string;
  readonly name: string;
  readonly title: string;
  readonly version: number;
  readonly deletedAt: string;
  readonly purgedAt: string;
  readonly formerParent: { readonly id: string; readonly path: string } | null;
}

const query = `query($first: Int, $after: String) { list: trash(first: $first, after: $after) {
  items { folderId name title version deletedAt purgedAt formerParent { id path } }
  ${pageInfo} } }`;

export const trash = apiCommand({
  about: 'List the folders in the trash, or permanently delete them',
  options: {
    empty: { about: 'Permanently delete the folders in the trash on which you have MANAGE' },
    yes: yesOption,
  },
  details: "Lists the latest deletion first. To restore a folder, run 'espalier folder restore <id>'.",
  examples: ['espalier folder trash', 'espalier folder trash --empty --yes'],
  async run(connection, { options }) {
    const { client, signal } = connection;
    if (options.empty) {
      await confirm('Permanently delete the folders in the trash on which you have MANAGE', options.yes);
      const folderCount = await client.folders.emptyTrash({ signal });
      return { data: { folderCount }, text: `Purged ${countFolders(folderCount)}.` };
    }
    const items = listTrash(connection);
    return { items, lines: tableOf(items), whenNone: 'The trash is empty.' };
  },
});

export const purge = apiCommand({
  about: 'Permanently delete a folder in the trash',
  words: [idWord],
  options: { yes: yesOption },
  details: 'Requires MANAGE on the folder and on all folders inside it.',
  examples: ['espalier folder purge 019a1b2c-3d4e-7f50-8a6b-7c8d9e0f1a2b'],
  async run({ client }, { words: [input = ''], options }) {
    const id = idIn(input) ?? input;
    await confirm(escaped`Permanently delete the folder ${id} with the folders inside`, options.yes);
    await client.folders.purge(id).catch(explainNoTrash(id));
    return { data: { purgedFolderId: id }, text: escaped`Purged the folder ${id}.` };
  },
});

function explainNoTrash(id: string): (error: unknown) => never {
  return (error) => {
    if (!isClientError(error, 'NOT_FOUND')) throw error;
    const text = `${id} is not the id of a folder in the trash. To list the ids, run 'espalier folder trash'.`;
    throw failure('NOT_FOUND', text, { cause: error });
  };
}

export function listTrash(connection: ApiConnection, pageSize = 500): AsyncGenerator<TrashedFolder> {
  return itemsOf(listReader<TrashedFolder>(connection, query), { pageSize });
}

function line(id: string, deleted: string, until: string, folder: string): string {
  return `${id.padEnd(36)}  ${deleted.padEnd(16)}  ${until.padEnd(16)}  ${folder}`;
}

async function* tableOf(trashed: AsyncIterable<TrashedFolder>): AsyncGenerator<string> {
  let isFirst = true;
  for await (const each of trashed) {
    if (isFirst) yield line('Id', 'Deleted (UTC)', 'Kept until (UTC)', 'Folder');
    isFirst = false;
    const path = escapeControls(formerPath(each));
    yield line(each.folderId, toMinute(each.deletedAt), toMinute(each.purgedAt), path);
  }
}

/** The path before the deletion, or the name if the viewer cannot see the former parent. */
export function formerPath({ formerParent, name }: TrashedFolder): string {
  return formerParent ? childPath(formerParent.path, name) : name;
}

export const restore = apiCommand({
  about: 'Restore a deleted folder',
  words: [idWord],
  options: {
    to: { value: 'path', about: 'Restore into this folder instead of its former parent' },
    name: { value: 'name', about: 'Restore under another name, for example if the former name is in use' },
  },
  details: "Restores the folders inside as well. To find the id, run 'espalier folder trash'.",
  examples: [
    'espalier folder restore 019a1b2c-3d4e-7f50-8a6b-7c8d9e0f1a2b',
    'espalier folder restore 019a1b2c-3d4e-7f50-8a6b-7c8d9e0f1a2b --to /Archive --name Old',
  ],
  async run({ client }, { words: [input = ''], options: { to, name } }) {
    const parentId = to === undefined ? undefined : (await findFolder(client, to)).id;
    const id = idIn(input) ?? input;
    const folder = await client.folders.restore(id, { parentId, name }).catch(explainNoTrash(id));
    return { data: folder, text: escaped`Restored ${folder.path}.` };
  },
});
