/**
 * `espalier user password`: changes your own password, sets the password of another user, or replaces a lost password directly on the
 * database, where write access is sufficient.
 */

import { readInputFile } from '../config/read-setting.ts';
import { StartError, UsageError } from '../config/start-error.ts';
import { connectionSettings, withConnection, type Connection } from './api/connection.ts';
import { findUser, mutate, userWord } from './api/resolve-names.ts';
import { command, json, type CommandInput, type Output, type SettingFlags } from './command.ts';
import { databaseSettings, onDatabase } from './database-command.ts';
import { escapeControls } from './terminal/output.ts';
import {
  askPassword,
  newPasswordOptions,
  readNewPassword,
  requireTerminal,
  withPassword,
} from './terminal/prompts.ts';

/** The heading of the options that need no server. */
const heading = 'To replace a lost password directly on the database:';

const options = {
  oldPasswordFile: {
    value: 'path',
    about: 'Read your old password from this file',
    completions: 'file',
    conflicts: ['onDatabase'],
  },
  ...newPasswordOptions,
  json,
  onDatabase: { heading, about: 'Work on the database directly; needs no login and no running server' },
  enable: { heading, about: 'Also enable a disabled user' },
} as const;

type Input = CommandInput<typeof options>;

interface EndedSessions {
  readonly endedSessions: number;
}

export const password = command({
  about: 'Change your own password, or set the password of another user',
  words: [{ ...userWord, isOptional: true }],
  options,
  settings: connectionSettings,
  hiddenSettings: databaseSettings,
  details: `Asks for the new password twice, unless an option provides it. A password must have 8 to 128 characters and must not be the
user name or a common password.

Without a user, changes your own password, asks for the old password and ends your other sessions. --password-stdin and --password-file
provide the new password.

With a user, sets the password of that user and ends all sessions of the user. For administrators.

With --on-database, replaces a lost password, even the password of the last administrator. Run the command on the machine
of the server, with the database settings of the server, for example --database-url; run 'espalier serve --help' for a list. Running
servers end the sessions of the user within a second. In the journal, the server is the author of this change.`,
  examples: [
    'espalier user password',
    'espalier user password anna --generate',
    'espalier user password admin --on-database',
  ],
  async run({ words: [reference], options: chosen, flags }) {
    if (chosen.onDatabase) return resetOnDatabase(reference, chosen, flags);
    requireNoDatabaseFlags(chosen, flags);
    return withConnection(flags, (connection) =>
      reference === undefined ? changeOwn(connection, chosen) : setForUser(connection, reference, chosen),
    );
  },
});

function requireNoDatabaseFlags({ enable }: Input['options'], flags: SettingFlags): void {
  const databaseFlag = Object.keys(flags).find((flag) => flag.startsWith('database-'));
  const first = enable ? 'enable' : databaseFlag;
  if (first !== undefined) throw new UsageError(`--${first} has an effect only with --on-database.`);
}

async function changeOwn(connection: Connection, input: Input['options']): Promise<Output> {
  requireLogin(connection);
  const oldPassword = await readOldPassword(input.oldPasswordFile);
  const { password: newPassword, generated } = await readNewPassword(input, 'New password');
  const passwords = { oldPassword, newPassword };
  const done = await mutate<EndedSessions>(connection, 'changePassword', passwords, 'endedSessions');
  const text = `The password was changed. Other sessions ended: ${done.endedSessions}.`;
  return withPassword(done, text, generated);
}

function requireLogin({ hasApiKey }: Connection): void {
  if (!hasApiKey) return;
  throw new StartError(
    "You cannot change your own password with an API key. Log in with 'espalier login' first.",
  );
}

async function readOldPassword(path: string | undefined): Promise<string> {
  if (path !== undefined) return readInputFile('--old-password-file', path);
  requireTerminal('the old password', '--old-password-file');
  return askPassword('Old password');
}

async function setForUser(
  connection: Connection,
  reference: string,
  input: Input['options'],
): Promise<Output> {
  const { client, signal } = connection;
  if (input.oldPasswordFile !== undefined) {
    throw new UsageError('--old-password-file is only for your own password. Leave out the user.');
  }
  const { id: userId, username } = await findUser(connection, reference);
  type Answer = { viewer: { user: { id: string } } };
  const { viewer } = await client.query<Answer>('{ viewer { user { id } } }', {}, { signal });
  if (viewer.user.id === userId) {
    requireLogin(connection);
    throw new StartError("To change your own password, run 'espalier user password' without a name.");
  }
  const name = escapeControls(username);
  const { password: chosen, generated } = await readNewPassword(input, `New password of ${name}`);
  const done = await mutate<EndedSessions>(
    connection,
    'resetPassword',
    { userId, password: chosen },
    'endedSessions',
  );
  return withPassword(done, `${name} has a new password. Sessions ended: ${done.endedSessions}.`, generated);
}

async function resetOnDatabase(
  username: string | undefined,
  input: Input['options'],
  flags: SettingFlags,
): Promise<Output> {
  if (username === undefined) throw new UsageError('--on-database needs the name of a user.');
  const other = ['url', 'profile'].find((flag) => flag in flags);
  if (other !== undefined) throw new UsageError(`--${other} has no effect with --on-database.`);
  const { requireNamed, replacePassword } = await import('../sessions/manage-users.ts');
  return onDatabase(flags, async ({ database }) => {
    const found = await requireNamed(database, username);
    const { password: chosen, generated } = await readNewPassword(input, `New password of ${found.username}`);
    const done = await replacePassword(database, found, { password: chosen, isEnabled: input.enable });
    const who = `${escapeControls(found.username)}${found.isAdministrator ? ', an administrator,' : ''}`;
    const { endedSessions } = done;
    const ended =
      endedSessions === 0
        ? 'The user had no sessions.'
        : `${endedSessions} ${endedSessions === 1 ? 'session has' : 'sessions have'} ended.`;
    const disabled = done.isDisabled
      ? '\nThe user is disabled and cannot log in. To enable the user, run the same command with --enable.'
      : '';
    const data = { id: found.id, username: found.username, ...done };
    return withPassword(data, `${who} has a new password. ${ended}${disabled}`, generated);
  });
}
