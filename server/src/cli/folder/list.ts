/** `espalier folder list`, `show` and `search`: reads folders. */

import type { Folder, FolderDetails } from '@espalier/client';
import { wholeNumber } from '../../config/setting.ts';
import { apiCommand } from '../api/connection.ts';
import { everyItem } from '../api/pages.ts';
import { folderWord } from '../api/resolve-names.ts';
import { json } from '../command.ts';
import type { GrantDetails } from '../grant.ts';
import {
  countFolders,
  escapeControls,
  escapeLines,
  formatJson,
  printJsonList,
  printLines,
  toMinute,
} from '../terminal/output.ts';
import { childPath, findFolder } from './folder-path.ts';

export const list = apiCommand({
  about: 'List the folders in a folder',
  aliases: ['ls'],
  words: [{ ...folderWord, isOptional: true }],
  options: {
    long: { short: 'l', about: 'Also show id, access level, time of the last change and title' },
    json,
  },
  details: 'Sorts in natural order, for example "Floor 2" before "Floor 10". Without a path, lists the root.',
  examples: ['espalier folder list', 'espalier folder list -l "/Places/Floor 2"'],
  async run({ client, signal }, { words, options }) {
    const parent = await findFolder(client, words[0]);
    const children = client.folders.children(parent.id, { signal });
    if (options.json) {
      await printJsonList(
        mapped(children, (folder) => ({ ...folder, path: childPath(parent.path, folder.name) })),
      );
    } else {
      await printLines(
        options.long ? longLines(children) : mapped(children, ({ name }) => escapeControls(name)),
      );
    }
  },
});

/** Columns with a fixed width come first, so that rows can be printed as they arrive. */
async function* longLines(folders: AsyncIterable<Folder>): AsyncGenerator<string> {
  const line = (id: string, access: string, changed: string, name: string) =>
    `${id.padEnd(36)}  ${access.padEnd(6)}  ${changed.padEnd(16)}  ${name}`;
  yield line('Id', 'Access', 'Changed (UTC)', 'Name');
  for await (const { id, accessLevel, updatedAt, name, title } of folders) {
    const called = title === name ? '' : `  (${escapeControls(title)})`;
    yield line(id, accessLevel, toMinute(updatedAt), escapeControls(name) + called);
  }
}

async function* mapped<T, U>(items: AsyncIterable<T>, map: (item: T) => U): AsyncGenerator<U> {
  for await (const item of items) yield map(item);
}

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

const showQuery = `query($id: ID!) { folder(id: $id) {
  id name title icon description properties path depth accessLevel version createdAt updatedAt
  ancestors { id name } folders(first: 1) { totalCount } } }`;

export const show = apiCommand({
  about: 'Show the details of a folder',
  words: [{ ...folderWord, isOptional: true }],
  options: { json },
  details: 'Without a path, shows the root.',
  examples: [
    'espalier folder show "/Places/Floor 2"',
    'espalier folder show id:019a1b2c-3d4e-7f50-8a6b-7c8d9e0f1a2b',
  ],
  async run(connection, { words }) {
    const { client, signal } = connection;
    const { id } = await findFolder(client, words[0]);
    type Answer = { readonly folder: Omit<FolderDescription, 'access'> };
    const answer = await client.query<Answer, { id: string }>(showQuery, { id }, { signal });
    const { grantReader, subjectOf } = await import('../grant.ts');
    const access = await everyItem(grantReader(connection, answer.folder, true));
    const { folders, ...shown } = { ...answer.folder, access };
    const data = { ...shown, childCount: folders.totalCount };
    return { data, text: () => formatFolder({ ...shown, folders }, subjectOf) };
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
      `${grant.level.padEnd(6)} to ${subjectOf(grant)} on ${escapeControls(grant.folder.path)}`,
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
  about: 'Find folders by name or title',
  words: [{ name: 'text', about: 'A part of the name or title' }],
  options: {
    under: { value: 'path', about: 'Search only inside this folder' },
    limit: { value: 'number', about: 'The maximum number of results', kind: wholeNumber(1, 1e9) },
    json,
  },
  details: `Ignores case and accents, and lists the best results first. Texts of fewer than three characters match only the beginnings of
names and titles.`,
  examples: [
    'espalier folder search floor --under /Places',
    'espalier folder search harbour --limit 10 --json',
  ],
  async run({ client, signal }, { words, options }) {
    const { limit = Infinity } = options;
    const under = options.under === undefined ? {} : { under: (await findFolder(client, options.under)).id };
    const pageSize = Number.isFinite(limit) ? { pageSize: Math.min(limit, 100) } : {};
    const found = client.folders.search(words[0]!, { signal, ...under, ...pageSize });
    if (options.json) await printJsonList(first(found, limit));
    else await printLines(mapped(first(found, limit), formatFound));
  },
});

function formatFound({ path, name, title }: FolderDetails): string {
  return title === name ? escapeControls(path) : `${escapeControls(path)}  (${escapeControls(title)})`;
}

async function* first<T>(items: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  let left = count;
  for await (const item of items) {
    yield item;
    if (--left === 0) return;
  }
}
