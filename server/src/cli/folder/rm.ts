/** `espalier folder rm`: moves folders to the trash. */

import { EspalierError } from '@espalier/client';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { count } from '../terminal/progress.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { folderWord } from '../api/resolve-names.ts';
import { findFolder } from './folder-path.ts';

export const rm = command({
  words: [{ ...folderWord, isRepeatable: true }],
  options: { recursive: { short: 'r', about: 'Also delete the folders inside' }, json },
  settings: connectionSettings,
  details:
    'Deleted folders stay in the trash for some days. See espalier folder trash and espalier folder restore.',
  async run({ words, options: { recursive, json: isJson }, flags }) {
    await withConnection({ flags }, async ({ client }) => {
      // Finds all folders first, so that a wrong path deletes nothing.
      const folders = [];
      for (const path of words) folders.push(await findFolder(client, path));
      const deleted = [];
      for (const { id, path } of folders) {
        const folderCount = await client.folders.delete(id, { recursive }).catch((error: unknown) => {
          throw recursive ? error : needsRecursive(error, path);
        });
        deleted.push({ id, path, folderCount });
        if (isJson) continue;
        const many = folderCount === 1 ? '' : ` (${count(folderCount)} folders)`;
        await print(
          `Deleted ${escapeControls(path)}${many}. To restore it, run espalier folder restore ${id}`,
        );
      }
      if (isJson) await printJson(deleted);
    });
  },
});

function needsRecursive(error: unknown, path: string): unknown {
  if (!(error instanceof EspalierError && error.code === 'CONFLICT')) return error;
  return new EspalierError('CONFLICT', `${path} contains folders. To delete them as well, use -r.`);
}
