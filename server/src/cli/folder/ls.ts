/** `espalier folder ls`: lists the folders inside a folder. */

import type { Folder } from '@espalier/client';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { printJsonList, printLines } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { toMinute } from '../terminal/format-time.ts';
import { folderWord } from '../api/resolve-names.ts';
import { childPath, findFolder } from './folder-path.ts';

export const ls = command({
  words: [{ ...folderWord, isOptional: true }],
  options: {
    long: { short: 'l', about: 'Also show id, access level, time of the last change and title' },
    json,
  },
  settings: connectionSettings,
  details: 'Sorts in natural order, for example "Floor 2" before "Floor 10". Without a path, lists the root.',
  async run({ words, options, flags }) {
    await withConnection({ flags }, async ({ client, signal }) => {
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
    });
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

export async function* mapped<T, U>(items: AsyncIterable<T>, map: (item: T) => U): AsyncGenerator<U> {
  for await (const item of items) yield map(item);
}
