/** `espalier user rm`: deletes a user permanently. */

import { command, json } from '../command.ts';
import { confirm, yes } from '../terminal/confirmation.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { findUser, userWord } from '../api/resolve-names.ts';

const mutation = `mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { deletedUserId } }`;

export const removeUser = command({
  words: [userWord],
  options: { yes, json },
  settings: connectionSettings,
  details: `For administrators. Also deletes the user's sessions, memberships and grants. To keep memberships and grants, run espalier
user disable instead. You cannot delete yourself.`,
  async run({ words: [reference], options, flags }) {
    await withConnection({ flags }, async (connection) => {
      const user = await findUser(connection, reference!);
      const name = escapeControls(user.username);
      await confirm(`Delete the user ${name} with sessions, memberships and grants`, options.yes);
      await connection.client.mutate(mutation, { input: { id: user.id } }, { signal: connection.signal });
      await (options.json ? printJson({ deletedUserId: user.id }) : print(`Deleted ${name}.`));
    });
  },
});
