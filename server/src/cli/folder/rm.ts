/** `espalier folder rm`: puts folders into the trash. */

import { EspalierError } from '@espalier/client';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson } from '../output.ts';
import { count } from '../progress.ts';
import { escapeControls } from '../escape-text.ts';
import { folderWord } from '../resolve-names.ts';
import { findFolder } from './folder-path.ts';

export const rm = command({
  words: [{ ...folderWord, isRepeatable: true }],
  options: { recursive: { short: 'r', about: 'With all that is inside' }, json },
  settings: connectionSettings,
  details: 'What is deleted is in the trash for some days: espalier folder trash, espalier folder restore.',
  async run({ words, options: { recursive, json: isJson }, flags }) {
    await withConnection({ flags }, async ({ client }) => {
      // All are looked for first: a word that is wrong deletes nothing.
      const folders = [];
      for (const path of words) folders.push(await findFolder(client, path));
      const deleted = [];
      for (const { id, path } of folders) {
        const folderCount = await client.folders.delete(id, { recursive }).catch((error: unknown) => {
          throw recursive ? error : needsRecursive(error, path);
        });
        deleted.push({ id, path, folderCount });
        if (isJson) continue;
        const many = folderCount === 1 ? '' : `, ${count(folderCount)} folders`;
        await print(
          `Deleted ${escapeControls(path)}${many}. To bring it back: espalier folder restore ${id}`,
        );
      }
      if (isJson) await printJson(deleted);
    });
  },
});

function needsRecursive(error: unknown, path: string): unknown {
  if (!(error instanceof EspalierError && error.code === 'CONFLICT')) return error;
  return new EspalierError('CONFLICT', `${path} has folders inside. -r deletes them, too.`);
}
