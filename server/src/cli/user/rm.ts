/** `espalier user rm`: deletes a user permanently. */

import { command, json } from '../command.ts';
import { confirm, yes } from '../confirmation.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, escapeControls } from '../output.ts';
import { findUser, userWord } from '../resolve-names.ts';

const mutation = `mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { deletedUserId } }`;

export const removeUser = command({
  words: [userWord],
  options: { yes, json },
  settings: connectionSettings,
  details: `For administrators. The user's sessions, memberships and grants go along; espalier user disable keeps them.
Nobody can delete themself.`,
  async run({ words: [reference], options, flags }) {
    await withConnection({ flags }, async (asking) => {
      const user = await findUser(asking, reference!);
      const name = escapeControls(user.username);
      await confirm(`Delete the user ${name} with sessions, memberships and grants`, options.yes);
      await asking.client.mutate(mutation, { input: { id: user.id } }, { signal: asking.signal });
      await (options.json ? printJson({ deletedUserId: user.id }) : print(`Deleted ${name}.`));
    });
  },
});
