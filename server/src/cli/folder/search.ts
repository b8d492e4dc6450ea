/** `espalier folder search`: folders by a part of their name or title. */

import type { FolderDetails } from '@espalier/client';
import { wholeNumber } from '../../config/setting-values.ts';
import { UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { printJsonList, printLines } from '../output.ts';
import { escapeControls } from '../escape-text.ts';
import { findFolder } from './folder-path.ts';
import { mapped } from './ls.ts';

export const search = command({
  words: [{ name: 'text', about: 'What the name or the title holds' }],
  options: {
    under: { value: 'path', about: 'Only what is inside this folder' },
    limit: { value: 'number', about: 'At most so many' },
    json,
  },
  settings: connectionSettings,
  details: `Without regard to case and accents, the best first. Texts of fewer than three characters find beginnings only.`,
  async run({ words, options, flags }) {
    const limit = options.limit === undefined ? Infinity : wholeNumber(1, 1e9)(options.limit);
    if (limit === undefined) throw new UsageError('--limit takes a whole number from 1 on.');
    await withConnection({ flags }, async ({ client, signal }) => {
      const under =
        options.under === undefined ? {} : { under: (await findFolder(client, options.under)).id };
      const pageSize = Number.isFinite(limit) ? { pageSize: Math.min(limit, 100) } : {};
      const found = client.folders.search(words[0]!, { signal, ...under, ...pageSize });
      if (options.json) await printJsonList(first(found, limit));
      else await printLines(mapped(first(found, limit), line));
    });
  },
});

function line({ path, name, title }: FolderDetails): string {
  return title === name ? escapeControls(path) : `${escapeControls(path)}  (${escapeControls(title)})`;
}

async function* first<T>(items: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  let left = count;
  for await (const item of items) {
    yield item;
    if (--left === 0) return;
  }
}
