/** `espalier whoami`: shows the logged-in user, as reported by the server. */

import { EspalierError } from '@espalier/client';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { toMinute } from '../terminal/format-time.ts';

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
      const { viewer } = await client.query<Answer>(query, {}, { signal }).catch(isOver);
      if (options.json) {
        await printJson({ url: client.url, ...viewer });
        return;
      }
      const { user, session } = viewer;
      await print(`${escapeControls(user.username)}${user.isAdministrator ? ' (administrator)' : ''} at ${client.url}
Logged in since ${toMinute(session.createdAt)} UTC. If it is not used, the session ends at ${toMinute(session.expiresAt)} UTC.`);
    });
  },
});

/** A token may outlive its session: after a logout elsewhere, or when a backup was restored. */
function isOver(error: unknown): never {
  const isGone = error instanceof EspalierError && error.code === 'NOT_FOUND';
  throw isGone ? new EspalierError('LOGGED_OUT', 'The session has ended.') : error;
}
