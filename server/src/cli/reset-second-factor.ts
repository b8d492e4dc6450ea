/**
 * `espalier user reset-second-factor`: removes the second factors of a user who lost them, through the server or directly on the
 * database, where write access is sufficient.
 */

import { UsageError } from '../config/start-error.ts';
import { systemClock } from '../clock.ts';
import { connectionSettings, withConnection } from './api/connection.ts';
import { findUser, mutate, userWord } from './api/resolve-names.ts';
import { command, json, type Output, type SettingFlags } from './command.ts';
import { databaseSettings, onDatabase } from './database-command.ts';
import { escapeControls } from './terminal/output.ts';
import { confirm, yesOption } from './terminal/prompts.ts';

const options = {
  yes: yesOption,
  json,
  onDatabase: {
    heading: 'If no administrator can log in:',
    about: 'Work on the database directly; needs no login and no running server',
  },
} as const;

export const resetSecondFactor = command({
  about: 'Remove the authenticator app, passkeys and recovery codes of a user',
  words: [userWord],
  options,
  settings: connectionSettings,
  hiddenSettings: databaseSettings,
  details: `For administrators, and not for yourself. Ends all sessions of the user, who then logs in with the password alone. If the server
requires a second factor, the user sets up a new one at the next login.

With --on-database, also resets the last administrator. Run the command on the machine of the server, with the database settings of
the server, for example --database-url; run 'espalier serve --help' for a list. Running servers end the sessions of the user within
a second. In the journal, the server is the author of this change.`,
  examples: [
    'espalier user reset-second-factor anna',
    'espalier user reset-second-factor admin --on-database',
  ],
  run({ words: [reference], options: chosen, flags }) {
    return chosen.onDatabase
      ? resetOnDatabase(reference!, chosen.yes, flags)
      : resetOnServer(reference!, chosen.yes, flags);
  },
});

function resetOnServer(reference: string, isYes: boolean, flags: SettingFlags): Promise<Output> {
  const databaseFlag = Object.keys(flags).find((flag) => flag.startsWith('database-'));
  if (databaseFlag !== undefined) {
    throw new UsageError(`--${databaseFlag} has an effect only with --on-database.`);
  }
  return withConnection(flags, async (connection) => {
    const { id: userId, username } = await findUser(connection, reference);
    await confirmReset(username, isYes);
    type Reset = { readonly endedSessions: number };
    const done = await mutate<Reset>(connection, 'resetSecondFactor', { userId }, 'endedSessions');
    return describeReset({ id: userId, username, ...done });
  });
}

async function resetOnDatabase(reference: string, isYes: boolean, flags: SettingFlags): Promise<Output> {
  const other = ['url', 'profile'].find((flag) => flag in flags);
  if (other !== undefined) throw new UsageError(`--${other} has no effect with --on-database.`);
  const { requireNamed } = await import('../sessions/manage-users.ts');
  const { resetSecondFactor: reset } = await import('../sessions/second-factors/manage-second-factors.ts');
  const { runChange } = await import('../journal/journal.ts');
  return onDatabase(flags, async ({ database }) => {
    const { id, username } = await requireNamed(database, reference);
    await confirmReset(username, isYes);
    const endedSessions = await runChange(database, (transaction) =>
      reset(transaction, id, { byUserId: null, now: systemClock.now() }),
    );
    return describeReset({ id, username, endedSessions });
  });
}

function confirmReset(username: string, isYes: boolean): Promise<void> {
  return confirm(`Remove all second factors of ${escapeControls(username)}`, isYes);
}

function describeReset(done: { id: string; username: string; endedSessions: number }): Output {
  const { username, endedSessions } = done;
  const name = escapeControls(username);
  return { data: done, text: `The second factor of ${name} is removed. Sessions ended: ${endedSessions}.` };
}
