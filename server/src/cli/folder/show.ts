/** `espalier folder show`: all there is to know of a folder. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, jsonText } from '../output.ts';
import { shown, shownLines } from '../shown-text.ts';
import { toMinute } from '../shown-time.ts';
import { folderWord } from '../references.ts';
import { countFolders } from '../progress.ts';
import { findFolder } from './folder-path.ts';

interface Grant {
  readonly level: string;
  readonly grantedAt: string;
  readonly folder: { readonly id: string; readonly path: string };
  readonly user: { readonly id: string; readonly username: string } | null;
  readonly group: { readonly id: string; readonly name: string } | null;
}

interface Answer {
  readonly folder: {
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
    readonly access: readonly Grant[];
  };
}

const query = `query($id: ID!) { folder(id: $id) {
  id name title icon description properties path depth accessLevel version createdAt updatedAt
  ancestors { id name } folders(first: 1) { totalCount }
  access(inherited: true) { level grantedAt folder { id path } user { id username } group { id name } } } }`;

export const show = command({
  words: [{ ...folderWord, isOptional: true }],
  options: { json },
  settings: connectionSettings,
  details: 'Without a path, the root.',
  async run({ words, options, flags }) {
    await withConnection({ flags }, async ({ client, signal }) => {
      const { id } = await findFolder(client, words[0]);
      const { folder } = await client.query<Answer, { id: string }>(query, { id }, { signal });
      await (options.json ? printJson(inJson(folder)) : print(described(folder)));
    });
  },
});

function inJson({ folders, ...folder }: Answer['folder']) {
  return { ...folder, childCount: folders.totalCount };
}

export function described(folder: Answer['folder']): string {
  const rows: [string, string | null][] = [
    ['Path', shown(folder.path)],
    ['Id', folder.id],
    ['Title', folder.title === folder.name ? null : shown(folder.title)],
    ['Icon', folder.icon && shown(folder.icon)],
    ['Description', folder.description && shownLines(folder.description)],
    ...Object.entries(folder.properties).map(([name, value], place): [string, string] => [
      place === 0 ? 'Properties' : '',
      `${shown(name)} = ${shown(jsonText(value))}`,
    ]),
    ['Inside', countFolders(folder.folders.totalCount)],
    ['Above', folder.ancestors.map(({ id, name }) => `${shown(name)} (${id})`).join('\n') || null],
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

function granted({ level, user, group, folder }: Grant): string {
  const whom = user ? shown(user.username) : `group ${shown(group?.name ?? '')}`;
  return `${level.padEnd(6)} to ${whom} on ${shown(folder.path)}`;
}
