/** `espalier user password`: changes your own password. Requires the old one. */

import { readInputFile } from '../../config/config.ts';
import { StartError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { newPasswordOptions, readNewPassword, reportWithPassword } from '../terminal/new-password.ts';
import { ask } from '../terminal/secret-input.ts';

interface Payload {
  readonly changePassword: { readonly endedSessions: number };
}

const mutation = `mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { endedSessions } }`;
const oldFlag = '--old-password-file';

export const changePassword = command({
  options: {
    oldPasswordFile: { value: 'path', about: 'Read the old password from this file', completes: 'file' },
    ...newPasswordOptions,
    json,
  },
  settings: connectionSettings,
  details: `Asks for the old password, and twice for the new one, unless options provide them. --password-stdin and --password-file are
for the new password. Ends your other sessions.`,
  async run({ options, flags }) {
    await withConnection({ flags }, async ({ client, signal }) => {
      const oldPassword = await readOldPassword(options.oldPasswordFile);
      const { password: newPassword, generated } = await readNewPassword(options, 'New password');
      const { changePassword: done } = await client.mutate<Payload>(
        mutation,
        { input: { oldPassword, newPassword } },
        { signal },
      );
      const sentence = `The password was changed. Other sessions ended: ${done.endedSessions}.`;
      await reportWithPassword({ isJson: options.json, generated }, done, sentence);
    });
  },
});

async function readOldPassword(path: string | undefined): Promise<string> {
  if (path !== undefined) return readInputFile(oldFlag, path);
  if (process.stdin.isTTY) return ask('Old password: ', { isHidden: true });
  throw new StartError(`There is no terminal to ask for the old password. Use ${oldFlag}.`);
}
