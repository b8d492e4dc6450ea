/** `espalier user set-password`: sets the password of another user. */

import { StartError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { newPasswordOptions, readNewPassword, reportWithPassword } from '../terminal/new-password.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { findUser, userWord } from '../api/resolve-names.ts';

interface Payload {
  readonly resetPassword: { readonly endedSessions: number };
}

const currentUser = `{ viewer { user { id } } }`;
const mutation = `mutation ($input: ResetPasswordInput!) { resetPassword(input: $input) { endedSessions } }`;

export const setPassword = command({
  words: [userWord],
  options: { ...newPasswordOptions, json },
  settings: connectionSettings,
  details: `For administrators. Ends all sessions of the user. To change your own password, run espalier user password. If no
administrator can log in, run espalier user reset-password, which works on the database directly.`,
  async run({ words: [reference], options, flags }) {
    await withConnection({ flags }, async (connection) => {
      const { client, signal } = connection;
      const { id: userId, username } = await findUser(connection, reference!);
      const { viewer } = await client.query<{ viewer: { user: { id: string } } }>(
        currentUser,
        {},
        { signal },
      );
      if (viewer.user.id === userId) {
        throw new StartError('To change your own password, run espalier user password.');
      }
      const name = escapeControls(username);
      const { password, generated } = await readNewPassword(options, `New password of ${name}`);
      const { resetPassword: done } = await client.mutate<Payload>(
        mutation,
        { input: { userId, password } },
        { signal },
      );
      const sentence = `${name} has a new password. Sessions ended: ${done.endedSessions}.`;
      await reportWithPassword({ isJson: options.json, generated }, done, sentence);
    });
  },
});
