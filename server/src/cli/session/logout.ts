/** `espalier logout`: ends the session that was kept. */

import { EspalierError } from '@espalier/client';
import { command } from '../command.ts';
import { clientFor, connectionSettings, profileFile, untilSignal } from '../connection.ts';
import { describeFailure, ExitError } from '../failures.ts';
import { print } from '../output.ts';
import { escapeControls } from '../escape-text.ts';

export const logout = command({
  settings: connectionSettings,
  details: 'The file is removed even if the server cannot be told; then the session ends by itself.',
  async run({ flags }) {
    const file = profileFile(flags);
    const profile = await file.read().catch(async (error: unknown) => {
      if (error instanceof EspalierError) await file.remove();
      else throw error;
    });
    if (!profile) {
      await print('Nobody is logged in.');
      return;
    }
    const client = clientFor(profile.url, file.storage());
    try {
      await untilSignal(() => client.logout());
    } catch (error) {
      if (!(error instanceof EspalierError)) throw error;
      const { exitCode, message } = describeFailure(error);
      throw new ExitError(exitCode, `${message} The login is forgotten here, and ends there by itself.`);
    } finally {
      client.close();
      await file.remove();
    }
    await print(`Logged out ${escapeControls(profile.username)} at ${profile.url}.`);
  },
});
