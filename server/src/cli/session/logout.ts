/** `espalier logout`: ends the session that was kept. */

import { command } from '../command.ts';
import { clientFor, connectionSettings, profileFile, untilSignal } from '../connection.ts';
import { print } from '../output.ts';

export const logout = command({
  settings: connectionSettings,
  details: 'The file is removed even if the server cannot be told; then the session ends by itself.',
  async run({ flags }) {
    const file = profileFile(flags);
    const profile = await file.read();
    if (!profile) {
      await print('Nobody is logged in.');
      return;
    }
    const client = clientFor(profile.url, file.storage());
    await untilSignal(() => client.logout()).finally(async () => {
      client.close();
      await file.remove();
    });
    await print(`Logged out ${profile.username} at ${profile.url}.`);
  },
});
