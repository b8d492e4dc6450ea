/** Checks that the running server uses the database of these settings, which then contains its published keys. */

import { resolve } from 'node:path';
import { databaseOptionsFrom } from '../../config/config.ts';
import { openWithoutMigrating } from '../../database/open-database.ts';
import { openDatabaseFile } from '../../database/sqlite/backup.ts';
import { readKeyRows } from '../../sessions/signing-keys.ts';
import { sendRequest, jsonOf } from './http-request.ts';
import { whyUnusable } from './database-file-check.ts';
import { responds, type CheckContext } from './check-context.ts';
import { ok, warning, type Findings } from './finding.ts';

export async function* checkInstallation(context: CheckContext): Findings {
  const { clock, server } = context;
  if (!(await responds(server))) return;
  const { body } = await sendRequest(clock, `${server.url}/.well-known/jwks.json`);
  const published = (jsonOf(body) as { keys?: readonly { kid?: unknown }[] } | undefined)?.keys ?? [];
  // The check of the database reports its problems.
  const stored = await storedKeyIds(context).catch(() => []);
  if (published.length === 0 || stored.length === 0) return;
  yield published.some(({ kid }) => stored.some((id) => id === kid))
    ? ok('The server uses the database of these settings.')
    : warning(
        'The server uses another database: none of its signing keys is in the database of these settings.',
        'Use the settings of that server, or specify the server of these settings with --url.',
      );
}

async function storedKeyIds({ file, settings, server }: CheckContext): Promise<readonly string[]> {
  const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);
  if (file !== undefined) {
    // A file with a problem is not opened.
    if (await whyUnusable(resolve(file), server)) return [];
    const stored = openDatabaseFile(resolve(file));
    try {
      return ids(await readKeyRows(stored));
    } finally {
      stored.close();
    }
  }
  const database = await openWithoutMigrating(settings.databaseUrl, databaseOptionsFrom(settings));
  try {
    return ids(await readKeyRows(database));
  } finally {
    await database.close();
  }
}
