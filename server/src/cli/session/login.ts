/** `espalier login`: exchanges a password for a session, and keeps it for the commands that follow. */

import { EspalierError, memoryStorage } from '@espalier/client';
import { readCommandLineSettings } from '../../config/config.ts';
import { command } from '../command.ts';
import { clientFor, connectionSettings, defaultUrl, profileFile, untilSignal } from '../connection.ts';
import { print } from '../output.ts';
import { escapeControls } from '../escape-text.ts';
import { ask, passwordOptions, readPassword } from '../secret-input.ts';
import { StartError } from '../../config/start-error.ts';

export const login = command({
  options: {
    username: { value: 'name', short: 'u', about: 'Who logs in; asked for unless given' },
    ...passwordOptions,
  },
  settings: connectionSettings,
  details: `Asks for what is not given. The session is kept in a file for you alone, and prolonged by the commands that use it.
Without --url, the server of the last login, or ${defaultUrl}.`,
  async run({ options, flags }) {
    const file = profileFile(flags);
    const before = await file.read().catch(ignoreDamage);
    const url = readCommandLineSettings(flags).url ?? before?.url ?? defaultUrl;
    const username = options.username ?? (await askForName(before?.username));
    const password = await readPassword(options, { prompt: `Password of ${username} at ${url}` });
    const storage = memoryStorage();
    const client = clientFor(url, storage);
    try {
      await untilSignal(() => client.login({ username, password }));
      const tokens = (await storage.read())!;
      // A session that cannot be stored is useless.
      await file.write({ url, username, tokens }).catch(async (error: unknown) => {
        await client.logout().catch(() => undefined);
        throw error;
      });
    } finally {
      client.close();
    }
    await print(`Logged in as ${escapeControls(username)} at ${url}.`);
  },
});

async function askForName(before: string | undefined): Promise<string> {
  if (!process.stdin.isTTY) throw new StartError('Who logs in is not given: --username <name>.');
  const name = await ask(before ? `User name [${before}]: ` : 'User name: ');
  return name || before || askForName(before);
}

/** The stored login is replaced in any case. */
function ignoreDamage(error: unknown): undefined {
  if (!(error instanceof EspalierError)) throw error;
}
