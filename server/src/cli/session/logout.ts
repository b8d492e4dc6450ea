/** `espalier logout`: ends the stored session. */

import { EspalierError } from '@espalier/client';
import { command } from '../command.ts';
import { clientFor, connectionSettings, profileFile, untilSignal } from '../api/connection.ts';
import { describeFailure, ExitError } from '../failures.ts';
import { print } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';

export const logout = command({
  settings: connectionSettings,
  details:
    'Deletes the stored session even if the server cannot be reached. The session then expires on the server.',
  async run({ flags }) {
    const file = profileFile(flags);
    const profile = await file.read().catch(async (error: unknown) => {
      if (error instanceof EspalierError) await file.remove();
      else throw error;
    });
    if (!profile) {
      await print('You are not logged in.');
      return;
    }
    const client = clientFor(profile.url, file.storage());
    try {
      await untilSignal(() => client.logout());
    } catch (error) {
      if (!(error instanceof EspalierError)) throw error;
      const { exitCode, message } = describeFailure(error);
      throw new ExitError(
        exitCode,
        `${message} The stored session was deleted. It will expire on the server.`,
      );
    } finally {
      client.close();
      await file.remove();
    }
    await print(`Logged out ${escapeControls(profile.username)} at ${profile.url}.`);
  },
});
