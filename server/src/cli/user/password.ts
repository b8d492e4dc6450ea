/** `espalier user password`: one's own password, changed with the old one. */

import { readInputFile } from '../../config/config.ts';
import { StartError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { newPasswordOptions, readNewPassword, tellWithPassword } from '../new-password.ts';
import { ask } from '../secret-input.ts';

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
  details: `Asks for the old password, and twice for the new one, unless they are given; --password-stdin and
--password-file are about the new one. Your other sessions are ended.`,
  async run({ options, flags }) {
    await withConnection({ flags }, async ({ client, signal }) => {
      const oldPassword = await readOldPassword(options.oldPasswordFile);
      const { password: newPassword, generated } = await readNewPassword(options, 'New password');
      const { changePassword: done } = await client.mutate<Payload>(
        mutation,
        { input: { oldPassword, newPassword } },
        { signal },
      );
      const sentence = `The password is changed. Other sessions that were ended: ${done.endedSessions}.`;
      await tellWithPassword({ isJson: options.json, generated }, done, sentence);
    });
  },
});

async function readOldPassword(path: string | undefined): Promise<string> {
  if (path !== undefined) return readInputFile(oldFlag, path).text;
  if (process.stdin.isTTY) return ask('Old password: ', { isHidden: true });
  throw new StartError(`There is no terminal to ask for the old password. Give ${oldFlag}.`);
}
