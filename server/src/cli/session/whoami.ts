/** `espalier whoami`: who is logged in, as the server says it. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson } from '../output.ts';
import { shown } from '../shown-text.ts';

interface Answer {
  readonly viewer: {
    readonly user: { id: string; username: string; isAdministrator: boolean };
    readonly session: { id: string; createdAt: string; expiresAt: string };
  };
}

const query = `{ viewer { user { id username isAdministrator } session { id createdAt expiresAt } } }`;

export const whoami = command({
  options: { json },
  settings: connectionSettings,
  async run({ options, flags }) {
    await withConnection({ flags }, async ({ client, signal }) => {
      const { viewer } = await client.query<Answer>(query, {}, { signal });
      if (options.json) {
        await printJson({ url: client.url, ...viewer });
        return;
      }
      const { user, session } = viewer;
      await print(`${shown(user.username)}${user.isAdministrator ? ' (administrator)' : ''} at ${client.url}
Logged in since ${session.createdAt}; unless it is used, the session ends at ${session.expiresAt}.`);
    });
  },
});
