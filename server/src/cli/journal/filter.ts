/** Converts flags that filter journal entries to the filter of the server. */

import { journalKinds } from '../../journal/journal-entry.ts';
import type { Options, Values } from '../command.ts';
import { parseNames, parseTime, timeAbout, toName } from '../api/flag-values.ts';
import { findFolderReference, findGroup, findUser, idOf, type ApiConnection } from '../api/resolve-names.ts';

export const filterOptions = {
  by: { value: 'name', about: 'Show only changes made by this user (name or id:<id>)' },
  user: { value: 'name', about: 'Show only changes to this user (name or id:<id>)' },
  group: { value: 'name', about: 'Show only changes to this group (name or id:<id>)' },
  folder: {
    value: 'path',
    about: 'Show only changes to this folder itself (path or id:<id>), not to its contents',
  },
  kind: {
    value: 'kind',
    about: 'Show only changes of this kind, for example move-folder',
    isRepeatable: true,
    completions: journalKinds.map(toName),
  },
  from: { value: 'time', about: `Show only changes at this time or later: ${timeAbout}` },
  until: { value: 'time', about: 'Show only changes before this time' },
} as const satisfies Options;

/** Validates the filter before a request is sent. */
export function readFilter(
  input: Values<typeof filterOptions>,
  now: number,
): (connection: ApiConnection) => Promise<Readonly<Record<string, unknown>>> {
  const kinds = parseNames('kind', input.kind, journalKinds);
  const from = input.from === undefined ? undefined : parseTime('--from', input.from, now);
  const until = input.until === undefined ? undefined : parseTime('--until', input.until, now);
  return async (connection) => ({
    byId: await idOf(connection, input.by, findUser),
    userId: await idOf(connection, input.user, findUser),
    groupId: await idOf(connection, input.group, findGroup),
    folderId: await idOf(connection, input.folder, findFolderReference),
    kinds,
    from,
    until,
  });
}
