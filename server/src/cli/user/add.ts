/** `espalier user add`: creates a user. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { newPasswordOptions, readNewPassword, tellWithPassword } from '../new-password.ts';
import { escapeControls } from '../output.ts';
import { userFields, withAllGroups, type ReadUser } from './user-details.ts';

interface Payload {
  readonly createUser: { readonly user: ReadUser };
}

const mutation = `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { ${userFields} } } }`;

export const addUser = command({
  words: [{ name: 'name', about: '1 to 128 characters; free in any case of its letters' }],
  options: {
    administrator: { about: 'Who sees and does everything' },
    ...newPasswordOptions,
    json,
  },
  settings: connectionSettings,
  details: `For administrators. Asks for the password twice unless it is given.
A password has 8 to 128 characters, and is neither the name nor one of the most common ones.`,
  async run({ words: [username], options, flags }) {
    await withConnection({ flags }, async (asking) => {
      const { client, signal } = asking;
      const { password, generated } = await readNewPassword(
        options,
        `Password of ${escapeControls(username!)}`,
      );
      const input = { username, password, isAdministrator: options.administrator };
      const { createUser } = await client.mutate<Payload>(mutation, { input }, { signal });
      const user = await withAllGroups(asking, createUser.user);
      const role = user.isAdministrator ? ', an administrator' : '';
      const sentence = `Added ${escapeControls(user.username)}${role}.`;
      await tellWithPassword({ isJson: options.json, generated }, user, sentence);
    });
  },
});
