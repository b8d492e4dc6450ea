/** `espalier user rename`: another name for the same user. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, escapeControls } from '../output.ts';
import { findUser, userWord } from '../resolve-names.ts';
import { updateUser } from './user-change.ts';

export const renameUser = command({
  words: [userWord, { name: 'new-name', about: '1 to 128 characters; free in any case of its letters' }],
  options: { json },
  settings: connectionSettings,
  details: 'For administrators. Sessions, groups and grants stay.',
  async run({ words: [reference, username], options, flags }) {
    await withConnection({ flags }, async (asking) => {
      const before = await findUser(asking, reference!);
      const user = await updateUser(asking, before, { username: username! });
      await (options.json
        ? printJson(user)
        : print(`${escapeControls(before.username)} is called ${escapeControls(user.username)} now.`));
    });
  },
});
