/** `espalier folder restore`: brings a deleted folder back. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson } from '../output.ts';
import { escapeControls } from '../escape-text.ts';
import { idIn } from '../resolve-names.ts';
import { findFolder } from './folder-path.ts';

export const restore = command({
  words: [{ name: 'id', about: 'As espalier folder trash tells it' }],
  options: {
    to: { value: 'path', about: 'Into this folder, instead of where it was' },
    name: { value: 'name', about: 'Under another name, if its own is taken by now' },
    json,
  },
  settings: connectionSettings,
  async run({ words: [given = ''], options: { to, name, json: isJson }, flags }) {
    await withConnection({ flags }, async ({ client }) => {
      const parentId = to === undefined ? undefined : (await findFolder(client, to)).id;
      const folder = await client.folders.restore(idIn(given) ?? given, {
        ...(parentId !== undefined && { parentId }),
        ...(name !== undefined && { name }),
      });
      if (isJson) await printJson(folder);
      else await print(`Restored ${escapeControls(folder.path)}.`);
    });
  },
});
