/** `espalier folder search`: finds folders by a part of their name or title. */

import type { FolderDetails } from '@espalier/client';
import { wholeNumber } from '../../config/setting.ts';
import { UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { printJsonList, printLines } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { findFolder } from './folder-path.ts';
import { mapped } from './ls.ts';

export const search = command({
  words: [{ name: 'text', about: 'A part of the name or title' }],
  options: {
    under: { value: 'path', about: 'Search only inside this folder' },
    limit: { value: 'number', about: 'The maximum number of results' },
    json,
  },
  settings: connectionSettings,
  details: `Ignores case and accents, and lists the best results first. Texts of fewer than three characters match only the beginnings of
names and titles.`,
  async run({ words, options, flags }) {
    const limit = options.limit === undefined ? Infinity : wholeNumber(1, 1e9).parse(options.limit);
    if (limit === undefined) throw new UsageError('--limit takes a whole number of at least 1.');
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
