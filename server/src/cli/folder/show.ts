/** `espalier folder show`: all there is to know of a folder. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, formatJson } from '../output.ts';
import { escapeControls, escapeLines } from '../escape-text.ts';
import { toMinute } from '../format-time.ts';
import { folderWord } from '../resolve-names.ts';
import { grantReader, type GrantDetails } from '../grant/grant-details.ts';
import { everyItem } from '../pages.ts';
import { countFolders } from '../progress.ts';
import { findFolder } from './folder-path.ts';

interface FolderDescription {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly icon: string | null;
  readonly description: string | null;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly path: string;
  readonly depth: number;
  readonly accessLevel: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly ancestors: readonly { readonly id: string; readonly name: string }[];
  readonly folders: { readonly totalCount: number };
  readonly access: readonly GrantDetails[];
}

const query = `query($id: ID!) { folder(id: $id) {
  id name title icon description properties path depth accessLevel version createdAt updatedAt
  ancestors { id name } folders(first: 1) { totalCount } } }`;

export const show = command({
  words: [{ ...folderWord, isOptional: true }],
  options: { json },
  settings: connectionSettings,
  details: 'Without a path, the root.',
  async run({ words, options, flags }) {
    await withConnection({ flags }, async (asking) => {
      const { client, signal } = asking;
      const { id } = await findFolder(client, words[0]);
      type Answer = { readonly folder: Omit<FolderDescription, 'access'> };
      const answer = await client.query<Answer, { id: string }>(query, { id }, { signal });
      const access = await everyItem(grantReader(asking, answer.folder, true));
      const folder = { ...answer.folder, access };
      await (options.json ? printJson(inJson(folder)) : print(described(folder)));
    });
  },
});

function inJson({ folders, ...folder }: FolderDescription) {
  return { ...folder, childCount: folders.totalCount };
}

export function described(folder: FolderDescription): string {
  const rows: [string, string | null][] = [
    ['Path', escapeControls(folder.path)],
    ['Id', folder.id],
    ['Title', folder.title === folder.name ? null : escapeControls(folder.title)],
    ['Icon', folder.icon && escapeControls(folder.icon)],
    ['Description', folder.description && escapeLines(folder.description)],
    ...Object.entries(folder.properties).map(([name, value], place): [string, string] => [
      place === 0 ? 'Properties' : '',
      `${escapeControls(name)} = ${escapeControls(formatJson(value))}`,
    ]),
    ['Inside', countFolders(folder.folders.totalCount)],
    ['Above', folder.ancestors.map(({ id, name }) => `${escapeControls(name)} (${id})`).join('\n') || null],
    ['Access', folder.accessLevel],
    ...folder.access.map((grant, place): [string, string] => [place === 0 ? 'Grants' : '', granted(grant)]),
    ['Version', String(folder.version)],
    ['Created', `${toMinute(folder.createdAt)} UTC`],
    ['Changed', `${toMinute(folder.updatedAt)} UTC`],
  ];
  const indent = ' '.repeat(13);
  return rows
    .filter(([, value]) => value !== null)
    .map(([name, value]) => name.padEnd(13) + value!.replaceAll('\n', `\n${indent}`))
    .join('\n');
}

function granted({ level, user, group, folder }: GrantDetails): string {
  const whom = user ? escapeControls(user.username) : `group ${escapeControls(group?.name ?? '')}`;
  return `${level.padEnd(6)} to ${whom} on ${escapeControls(folder.path)}`;
}
