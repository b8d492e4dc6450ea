/** `espalier folder restore`: restores a deleted folder. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { idIn } from '../api/resolve-names.ts';
import { findFolder } from './folder-path.ts';

export const restore = command({
  words: [{ name: 'id', about: 'The id of the folder, from espalier folder trash' }],
  options: {
    to: { value: 'path', about: 'Restore into this folder instead of its former parent' },
    name: { value: 'name', about: 'Restore under another name, for example if its name is in use' },
    json,
  },
  settings: connectionSettings,
  async run({ words: [input = ''], options: { to, name, json: isJson }, flags }) {
    await withConnection({ flags }, async ({ client }) => {
      const parentId = to === undefined ? undefined : (await findFolder(client, to)).id;
      const folder = await client.folders.restore(idIn(input) ?? input, {
        ...(parentId !== undefined && { parentId }),
        ...(name !== undefined && { name }),
      });
      if (isJson) await printJson(folder);
      else await print(`Restored ${escapeControls(folder.path)}.`);
    });
  },
});
