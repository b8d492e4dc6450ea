/** `espalier folder trash`: lists deleted folders that can be restored. */

import type { Client } from '@espalier/client';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJsonList, printLines } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { toMinute } from '../terminal/format-time.ts';
import { childPath } from './folder-path.ts';
import { itemsOf, pageInfo, type Page } from '../api/pages.ts';

export interface Trashed {
  readonly folderId: string;
  readonly name: string;
  readonly title: string;
  readonly version: number;
  readonly deletedAt: string;
  readonly purgedAt: string;
  readonly formerParent: { readonly id: string; readonly path: string } | null;
}

const query = `query($first: Int, $after: String) { trash(first: $first, after: $after) {
  items { folderId name title version deletedAt purgedAt formerParent { id path } }
  ${pageInfo} } }`;

export const trash = command({
  options: { json },
  settings: connectionSettings,
  details: 'Lists the latest deletion first. To restore a folder, run espalier folder restore <id>.',
  async run({ options, flags }) {
    await withConnection({ flags }, async ({ client, signal }) => {
      const trashed = listTrash(client, signal);
      if (options.json) await printJsonList(trashed);
      else await printTable(trashed);
    });
  },
});

export function listTrash(client: Client, signal?: AbortSignal, pageSize = 500): AsyncGenerator<Trashed> {
  type Answer = { trash: Page<Trashed> };
  return itemsOf(async (page) => (await client.query<Answer, object>(query, page, { signal })).trash, {
    pageSize,
  });
}

function line(id: string, deleted: string, until: string, folder: string): string {
  return `${id.padEnd(36)}  ${deleted.padEnd(16)}  ${until.padEnd(16)}  ${folder}`;
}

async function printTable(trashed: AsyncIterable<Trashed>): Promise<void> {
  let isEmpty = true;
  async function* lines() {
    for await (const { folderId, deletedAt, purgedAt, name, formerParent } of trashed) {
      if (isEmpty) yield line('Id', 'Deleted (UTC)', 'Kept until', 'Folder');
      isEmpty = false;
      const where = formerParent ? childPath(formerParent.path, name) : name;
      yield line(folderId, toMinute(deletedAt), toMinute(purgedAt), escapeControls(where));
    }
  }
  await printLines(lines());
  if (isEmpty) await print('The trash is empty.');
}
