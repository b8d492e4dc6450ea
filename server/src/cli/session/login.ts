/** `espalier login`: exchanges a password for a session, and stores it for later commands. */

import { EspalierError, memoryStorage } from '@espalier/client';
import { readCommandLineSettings } from '../../config/config.ts';
import { command } from '../command.ts';
import { clientFor, connectionSettings, defaultUrl, profileFile, untilSignal } from '../api/connection.ts';
import { print } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { ask, passwordOptions, readPassword } from '../terminal/secret-input.ts';
import { StartError } from '../../config/start-error.ts';

export const login = command({
  options: {
    username: { value: 'name', short: 'u', about: 'The user name; default: ask' },
    ...passwordOptions,
  },
  settings: connectionSettings,
  details: `Asks for missing values. Stores the session in a file that only you can read. Commands that use the session extend it.
Without --url, logs in to the server of the last login, or to ${defaultUrl}.`,
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
  if (!process.stdin.isTTY)
    throw new StartError('There is no terminal to ask for the user name. Use --username <name>.');
  const name = await ask(before ? `User name [${before}]: ` : 'User name: ');
  return name || before || askForName(before);
}

/** Ignores a damaged file, which the login replaces. */
function ignoreDamage(error: unknown): undefined {
  if (!(error instanceof EspalierError)) throw error;
}
