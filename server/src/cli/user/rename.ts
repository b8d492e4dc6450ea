/** `espalier user rename`: renames a user. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { findUser, userWord } from '../api/resolve-names.ts';
import { updateUser } from './user-change.ts';

export const renameUser = command({
  words: [userWord, { name: 'new-name', about: '1 to 128 characters; unique without regard to case' }],
  options: { json },
  settings: connectionSettings,
  details: 'For administrators. The user keeps sessions, groups and grants.',
  async run({ words: [reference, username], options, flags }) {
    await withConnection({ flags }, async (connection) => {
      const before = await findUser(connection, reference!);
      const user = await updateUser(connection, before, { username: username! });
      await (options.json
        ? printJson(user)
        : print(`Renamed ${escapeControls(before.username)} to ${escapeControls(user.username)}.`));
    });
  },
});
