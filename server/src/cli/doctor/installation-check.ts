/** Whether the server that answers has the database that these settings name: its published keys are in it. */

import { resolve } from 'node:path';
import { databaseOptionsFrom } from '../../config/config.ts';
import { openWithoutMigrating } from '../../database/open-database.ts';
import { openDatabaseFile } from '../../database/sqlite/backup.ts';
import { readKeyRows } from '../../sessions/signing-keys.ts';
import { ask, jsonOf } from './http-request.ts';
import { whyUnusable } from './database-file-check.ts';
import { answers, type Examined } from './check-context.ts';
import { ok, warning, type Findings } from './finding.ts';

export async function* checkInstallation(examined: Examined): Findings {
  const { clock, server } = examined;
  if (!(await answers(server))) return;
  const { body } = await ask(clock, `${server.url}/.well-known/jwks.json`);
  const published = (jsonOf(body) as { keys?: readonly { kid?: unknown }[] } | undefined)?.keys ?? [];
  // The check of the database reports its problems.
  const stored = await storedKeyIds(examined).catch(() => []);
  if (published.length === 0 || stored.length === 0) return;
  yield published.some(({ kid }) => stored.some((id) => id === kid))
    ? ok('It has the database that these settings name.')
    : warning(
        'It has another database than these settings name: none of its signing keys is in that.',
        'Give the settings of that server, or name the server of these settings with --url.',
      );
}

async function storedKeyIds({ file, settings, server }: Examined): Promise<readonly string[]> {
  const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);
  if (file !== undefined) {
    // One that cannot be used is not touched.
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
