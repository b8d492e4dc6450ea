/** `espalier user set-password`: sets the password of another user. */

import { StartError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { newPasswordOptions, readNewPassword, tellWithPassword } from '../new-password.ts';
import { escapeControls } from '../output.ts';
import { findUser, userWord } from '../resolve-names.ts';

interface Payload {
  readonly resetPassword: { readonly endedSessions: number };
}

const whoAsks = `{ viewer { user { id } } }`;
const mutation = `mutation ($input: ResetPasswordInput!) { resetPassword(input: $input) { endedSessions } }`;

export const setPassword = command({
  words: [userWord],
  options: { ...newPasswordOptions, json },
  settings: connectionSettings,
  details: `For administrators. Ends all sessions of the user. One's own is changed with espalier user password; if nobody can
log in any more, espalier user reset-password works on the database directly.`,
  async run({ words: [reference], options, flags }) {
    await withConnection({ flags }, async (asking) => {
      const { client, signal } = asking;
      const { id: userId, username } = await findUser(asking, reference!);
      const { viewer } = await client.query<{ viewer: { user: { id: string } } }>(whoAsks, {}, { signal });
      if (viewer.user.id === userId) {
        throw new StartError('Your own password is changed with the old one: espalier user password.');
      }
      const name = escapeControls(username);
      const { password, generated } = await readNewPassword(options, `New password of ${name}`);
      const { resetPassword: done } = await client.mutate<Payload>(
        mutation,
        { input: { userId, password } },
        { signal },
      );
      const sentence = `${name} has a new password. Sessions that were ended: ${done.endedSessions}.`;
      await tellWithPassword({ isJson: options.json, generated }, done, sentence);
    });
  },
});
