/** `espalier folder show`: shows the details of a folder. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson, formatJson } from '../terminal/output.ts';
import { escapeControls, escapeLines } from '../terminal/escape-text.ts';
import { toMinute } from '../terminal/format-time.ts';
import { folderWord } from '../api/resolve-names.ts';
import { grantReader, type GrantDetails } from '../grant/grant-details.ts';
import { everyItem } from '../api/pages.ts';
import { countFolders } from '../terminal/progress.ts';
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
  details: 'Without a path, shows the root.',
  async run({ words, options, flags }) {
    await withConnection({ flags }, async (connection) => {
      const { client, signal } = connection;
      const { id } = await findFolder(client, words[0]);
      type Answer = { readonly folder: Omit<FolderDescription, 'access'> };
      const answer = await client.query<Answer, { id: string }>(query, { id }, { signal });
      const access = await everyItem(grantReader(connection, answer.folder, true));
      const folder = { ...answer.folder, access };
      await (options.json ? printJson(toJson(folder)) : print(formatFolder(folder)));
    });
  },
});

function toJson({ folders, ...folder }: FolderDescription) {
  return { ...folder, childCount: folders.totalCount };
}

export function formatFolder(folder: FolderDescription): string {
  const rows: [string, string | null][] = [
    ['Path', escapeControls(folder.path)],
    ['Id', folder.id],
    ['Title', folder.title === folder.name ? null : escapeControls(folder.title)],
    ['Icon', folder.icon && escapeControls(folder.icon)],
    ['Description', folder.description && escapeLines(folder.description)],
    ...Object.entries(folder.properties).map(([name, value], index): [string, string] => [
      index === 0 ? 'Properties' : '',
      `${escapeControls(name)} = ${escapeControls(formatJson(value))}`,
    ]),
    ['Contents', countFolders(folder.folders.totalCount)],
    [
      'Ancestors',
      folder.ancestors.map(({ id, name }) => `${escapeControls(name)} (${id})`).join('\n') || null,
    ],
    ['Access', folder.accessLevel],
    ...folder.access.map((grant, index): [string, string] => [
      index === 0 ? 'Grants' : '',
      formatGrant(grant),
    ]),
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

function formatGrant({ level, user, group, folder }: GrantDetails): string {
  const whom = user ? escapeControls(user.username) : `group ${escapeControls(group?.name ?? '')}`;
  return `${level.padEnd(6)} to ${whom} on ${escapeControls(folder.path)}`;
}
