/** `espalier folder list`, `show` and `search`: reads folders. */

import type { Folder, FolderDetails } from '@espalier/client';
import { wholeNumber } from '../../config/setting.ts';
import { apiCommand } from '../api/connection.ts';
import { folderWord } from '../api/resolve-names.ts';
import type { GrantDetails } from '../grant.ts';
import {
  countFolders,
  escapeControls,
  escaped,
  escapeLines,
  formatJson,
  toMinute,
} from '../terminal/output.ts';
import { childPath, findFolder } from './folder-path.ts';

const whenNone = 'No folders found.';

export const list = apiCommand({
  about: 'List the folders in a folder',
  aliases: ['ls'],
  words: [{ ...folderWord, isOptional: true }],
  options: { long: { short: 'l', about: 'Also show id, access level, time of the last change and title' } },
  details: 'Sorts in natural order, for example "Floor 2" before "Floor 10". Without a path, lists the root.',
  examples: ['espalier folder list', 'espalier folder list -l "/Places/Floor 2"'],
  async run({ client, signal }, { words, options }) {
    const parent = await findFolder(client, words[0]);
    const children = client.folders.children(parent.id, { signal });
    return {
      items: mapItems(children, (folder) => ({ ...folder, path: childPath(parent.path, folder.name) })),
      lines: options.long ? longLines(children) : mapItems(children, ({ name }) => escapeControls(name)),
      whenNone,
    };
  },
});

/** Columns with a fixed width come first, so that rows can be printed as they arrive. */
async function* longLines(folders: AsyncIterable<Folder>): AsyncGenerator<string> {
  const line = (id: string, access: string, changed: string, name: string) =>
    `${id.padEnd(36)}  ${access.padEnd(6)}  ${changed.padEnd(16)}  ${name}`;
  let isFirst = true;
  for await (const { id, accessLevel, updatedAt, name, title } of folders) {
    if (isFirst) yield line('Id', 'Access', 'Changed (UTC)', 'Name');
    isFirst = false;
    yield line(id, accessLevel, toMinute(updatedAt), withTitle(name, { name, title }));
  }
}

/** Adds the title, if it differs from the name. */
function withTitle(text: string, { name, title }: Pick<Folder, 'name' | 'title'>): string {
  return title === name ? escapeControls(text) : escaped`${text}  (${title})`;
}

async function* mapItems<T, U>(items: AsyncIterable<T>, map: (item: T) => U): AsyncGenerator<U> {
  for await (const item of items) yield map(item);
}

interface FolderDescription extends Omit<FolderDetails, 'parentId'> {
  readonly ancestors: readonly { readonly id: string; readonly name: string }[];
  readonly childCount: number;
  readonly access: readonly GrantDetails[];
}

const showQuery = `query($id: ID!) { folder(id: $id) {
  id name title icon description properties path depth accessLevel version createdAt updatedAt
  ancestors { id name } folders(first: 1) { totalCount } } }`;

export const show = apiCommand({
  about: 'Show the details of a folder',
  words: [{ ...folderWord, isOptional: true }],
  details: 'Without a path, shows the root.',
  examples: [
    'espalier folder show "/Places/Floor 2"',
    'espalier folder show id:019a1b2c-3d4e-7f50-8a6b-7c8d9e0f1a2b',
  ],
  async run(connection, { words }) {
    const { client, signal } = connection;
    const { id } = await findFolder(client, words[0]);
    type Answer = {
      folder: Omit<FolderDescription, 'childCount' | 'access'> & { folders: { totalCount: number } };
    };
    const { folders, ...details } = (await client.query<Answer>(showQuery, { id }, { signal })).folder;
    const { readGrants, subjectOf } = await import('../grant.ts');
    const data = {
      ...details,
      access: await readGrants(connection, id, true),
      childCount: folders.totalCount,
    };
    return { data, text: () => formatFolder(data, subjectOf) };
  },
});

function formatFolder(folder: FolderDescription, subjectOf: (grant: GrantDetails) => string): string {
  const rows: [string, string | null][] = [
    ['Path', escapeControls(folder.path)],
    ['Id', folder.id],
    ['Title', folder.title === folder.name ? null : escapeControls(folder.title)],
    ['Icon', folder.icon && escapeControls(folder.icon)],
    ['Description', folder.description && escapeLines(folder.description)],
    ...Object.entries(folder.properties).map(([name, value], index): [string, string] => [
      index === 0 ? 'Properties' : '',
      escaped`${name} = ${formatJson(value)}`,
    ]),
    ['Contents', countFolders(folder.childCount)],
    ['Ancestors', folder.ancestors.map(({ id, name }) => escaped`${name} (${id})`).join('\n') || null],
    ['Access', folder.accessLevel],
    ...folder.access.map((grant, index): [string, string] => [
      index === 0 ? 'Grants' : '',
      escaped`${grant.level.padEnd(6)} to ${subjectOf(grant)} on ${grant.folder.path}`,
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

export const search = apiCommand({
  about: 'Find folders by name, title, path or id',
  words: [
    {
      name: 'text',
      about: 'Words of names or titles, a path or an id',
      isRepeatable: true,
    },
  ],
  options: {
    under: { value: 'path', about: 'Search only inside this folder' },
    limit: { value: 'number', about: 'The maximum number of results', kind: wholeNumber(1, 1e9) },
  },
  details: `Ignores case and accents, and lists the best results first. Several words match if the folder or its ancestors contain them.
Texts of fewer than three characters match only the beginnings of names and titles.`,
  examples: [
    'espalier folder search floor --under /Places',
    'espalier folder search harbour floor --limit 10 --json',
  ],
  async run({ client, signal }, { words, options }) {
    const { limit = Infinity } = options;
    const under = options.under === undefined ? undefined : (await findFolder(client, options.under)).id;
    const pageSize = Math.min(limit, 100);
    const found = client.folders.search(words.join(' '), { signal, under, pageSize });
    const items = takeFirst(found, limit);
    return { items, lines: mapItems(items, (folder) => withTitle(folder.path, folder)), whenNone };
  },
});

async function* takeFirst<T>(items: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  let left = count;
  for await (const item of items) {
    yield item;
    if (--left === 0) return;
  }
}
