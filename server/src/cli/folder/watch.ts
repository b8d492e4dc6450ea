/** `espalier folder watch`: prints a line for each change of the tree until it is stopped. */

import type { Client } from '@espalier/client';
import { apiCommand } from '../api/connection.ts';
import { folderWord, type ApiConnection } from '../api/resolve-names.ts';
import { escaped, formatNumber, print, printJson, toSecond } from '../terminal/output.ts';
import { childPath, findFolder } from './folder-path.ts';
import { formerPath, listTrash } from './trash.ts';

interface Change {
  readonly kind: 'CREATE' | 'UPDATE' | 'MOVE' | 'DELETE' | 'IMPORT' | 'RESYNC';
  readonly cursor: string;
  readonly folderId: string | null;
  readonly at: string | null;
  readonly by: { readonly username: string } | null;
  readonly folder: { readonly name: string; readonly path: string } | null;
  readonly oldParent: { readonly path: string } | null;
  readonly folderCount: number | null;
}

const subscription = `subscription($under: ID, $after: String) { folderChanges(under: $under, after: $after) {
  kind cursor folderId at by { username } folder { name path } oldParent { path } folderCount } }`;

/** How many folders of the trash are searched for the path of a deleted folder. */
const maxTrashSearched = 100;

export const watch = apiCommand({
  about: 'Print changes of a folder and its contents as they happen',
  words: [{ ...folderWord, isOptional: true }],
  options: { json: { about: 'Print one line of JSON per change' } },
  details: `Runs until Ctrl-C. Reconnects after a lost connection and then prints the missed changes. RESYNC means that the missed
changes are no longer available: list the folders again. Without a path, watches the whole tree. For past changes, run
'espalier journal'.`,
  examples: ['espalier folder watch /Places', 'espalier folder watch --json'],
  async run(connection, { words, options }) {
    const { client, signal } = connection;
    const top = await findFolder(client, words[0]);
    const { cursor } = await client.query<{ cursor: string }>('{ cursor }', {}, { signal });
    reportLostConnections(client);
    console.error(escaped`Watching ${top.path} at ${client.url}. Press Ctrl-C to stop.`);
    for await (const change of follow(connection, top.id, cursor)) {
      const path = change.folder?.path ?? (await findDeletedPath(connection, change));
      if (options.json) await printJson({ ...change, path }, { isCompact: true });
      else await print(line(change, path));
    }
  },
});

function reportLostConnections(client: Client): void {
  let isLost = false;
  client.onConnection((state) => {
    if (state === 'waiting' && !isLost) console.error(`Lost the connection to ${client.url}. Reconnecting.`);
    if (state === 'connected' && isLost) console.error('Connected again.');
    isLost = state === 'waiting' || (isLost && state === 'connecting');
  });
}

/** Subscribes again after a lost connection and continues after the last change. */
async function* follow(
  { client, signal }: ApiConnection,
  under: string,
  from: string,
): AsyncGenerator<Change> {
  let after = from;
  const onGoingAway = (cursor: string) => void (after = cursor);
  type Answer = { folderChanges: Change };
  const options = { signal, onGoingAway };
  const changes = client.subscribe<Answer, object>(subscription, () => ({ under, after }), options);
  for await (const { folderChanges } of changes) {
    after = folderChanges.cursor;
    yield folderChanges;
  }
}

/** The event of a deletion contains only the id. The trash has the path, for users who may restore the folder. */
async function findDeletedPath(
  connection: ApiConnection,
  { kind, folderId }: Change,
): Promise<string | null> {
  if (kind !== 'DELETE') return null;
  let left = maxTrashSearched;
  for await (const trashed of listTrash(connection, maxTrashSearched)) {
    if (trashed.folderId === folderId) return formerPath(trashed);
    if (--left === 0) return null;
  }
  return null;
}

function line(
  { kind, folderId, at, by, folder, oldParent, folderCount }: Change,
  path: string | null,
): string {
  const what = path ?? (folderId === null ? 'read everything again' : `id:${folderId}`);
  const from = kind === 'MOVE' && oldParent && folder && ` from ${childPath(oldParent.path, folder.name)}`;
  const many = kind === 'IMPORT' && folderCount !== null && ` (${formatNumber(folderCount)} folders)`;
  const who = by && ` by ${by.username}`;
  const start = `${(at === null ? '-' : `${toSecond(at)} UTC`).padEnd(23)}  ${kind.padEnd(6)}`;
  return escaped`${start}  ${what}${from || ''}${many || ''}${who ?? ''}`;
}
