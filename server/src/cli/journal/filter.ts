/** Converts flags that filter journal entries to the filter of the server. */

import { journalKinds, type JournalKind } from '../../journal/journal-entry.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { UsageError, invalidValue } from '../../config/start-error.ts';
import type { Options, Values } from '../command.ts';
import { findFolderReference, findGroup, findUser, idIn, type ApiConnection } from '../api/resolve-names.ts';

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const shape = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/i;

const timeAbout = '2026-11-15, "2026-11-15 16:50" (UTC), an RFC 3339 time, or an age such as 30m, 12h or 7d';

const kindNames = journalKinds.map((kind) => kind.toLowerCase().replaceAll('_', '-'));

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
    completions: kindNames,
  },
  from: { value: 'time', about: `Show only changes at this time or later: ${timeAbout}` },
  until: { value: 'time', about: 'Show only changes before this time' },
} as const satisfies Options;

/** Validates the filter before a request is sent. */
export function readFilter(
  input: Values<typeof filterOptions>,
  now: number,
): (connection: ApiConnection) => Promise<Readonly<Record<string, unknown>>> {
  const kinds = input.kind.length === 0 ? undefined : input.kind.map(toKind);
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

async function idOf(
  connection: ApiConnection,
  reference: string | undefined,
  find: (connection: ApiConnection, reference: string) => Promise<{ readonly id: string }>,
): Promise<string | undefined> {
  if (reference === undefined) return undefined;
  return idIn(reference) ?? (await find(connection, reference)).id;
}

function toKind(text: string): JournalKind {
  const name = text.toLowerCase().replaceAll('_', '-');
  const index = kindNames.indexOf(name);
  if (index >= 0) return journalKinds[index]!;
  const meant = nearestName(name, kindNames);
  throw new UsageError(
    `The journal has no kind ${JSON.stringify(text)}. ${meant ? `Did you mean ${meant}?` : `It has ${kindNames.join(', ')}.`}`,
  );
}

/** Parses a time that a user typed: in UTC unless it has an offset, or relative to now. Returns the format of the server. */
export function parseTime(flag: string, text: string, now: number): string {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const at = unit === undefined ? parseInstant(text) : now - Number(count) * seconds[unit]! * 1_000;
  if (at === undefined || at < 0) {
    throw invalidValue(flag, `a time, such as ${timeAbout}`, text);
  }
  return new Date(at).toISOString();
}

/** Parses an absolute time, in UTC unless it has an offset. Returns undefined if the text is not a time. */
export function parseInstant(text: string): number | undefined {
  const [, date, time = '00:00', zone = 'Z'] = shape.exec(text) ?? [];
  if (date === undefined) return undefined;
  // Date.parse takes the 30th of February for the 2nd of March.
  const isDay = new Date(Date.parse(`${date}T00:00Z`) || 0).toISOString().startsWith(date);
  const at = isDay ? Date.parse(`${date}T${time}${zone.toUpperCase()}`) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
