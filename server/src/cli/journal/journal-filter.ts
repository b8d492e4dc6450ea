/** Which entries of the journal are meant: flags as people give them, and the filter that the server takes. */

import { journalKinds, type JournalKind } from '../../journal/journal-entry.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { UsageError } from '../../config/start-error.ts';
import type { Option } from '../command.ts';
import { findFolder, findGroup, findUser, idIn, type Asking } from '../resolve-names.ts';
import { parseTime, timeAbout } from './parse-time.ts';

const kindNames = journalKinds.map((kind) => kind.toLowerCase().replaceAll('_', '-'));

export const filterOptions = {
  by: { value: 'user', about: 'Who did it, by name or id:<id>' },
  user: { value: 'user', about: 'Whom it concerns, by name or id:<id>' },
  group: { value: 'group', about: 'Which group, by name or id:<id>' },
  folder: { value: 'path', about: 'Which folder, by path or id:<id>; not what is inside' },
  kind: {
    value: 'kind',
    about: 'What was done, such as move-folder; several times for several kinds',
    isRepeatable: true,
    completes: kindNames,
  },
  from: { value: 'time', about: `At this time or later: ${timeAbout}` },
  until: { value: 'time', about: 'Before this time' },
} as const satisfies Record<string, Option>;

export interface FilterGiven {
  readonly by: string | undefined;
  readonly user: string | undefined;
  readonly group: string | undefined;
  readonly folder: string | undefined;
  readonly kind: readonly string[];
  readonly from: string | undefined;
  readonly until: string | undefined;
}

export interface JournalFilter {
  readonly byId?: string | undefined;
  readonly userId?: string | undefined;
  readonly groupId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly kinds?: readonly JournalKind[] | undefined;
  readonly from?: string | undefined;
  readonly until?: string | undefined;
}

/** Validates the filter before a request is sent. */
export function readFilter(given: FilterGiven, now: number): (asking: Asking) => Promise<JournalFilter> {
  const kinds = given.kind.length === 0 ? undefined : given.kind.map(toKind);
  const from = given.from === undefined ? undefined : parseTime('--from', given.from, now);
  const until = given.until === undefined ? undefined : parseTime('--until', given.until, now);
  return async (asking) => ({
    byId: await idOf(asking, given.by, findUser),
    userId: await idOf(asking, given.user, findUser),
    groupId: await idOf(asking, given.group, findGroup),
    folderId: await idOf(asking, given.folder, findFolder),
    kinds,
    from,
    until,
  });
}

async function idOf(
  asking: Asking,
  reference: string | undefined,
  find: (asking: Asking, reference: string) => Promise<{ readonly id: string }>,
): Promise<string | undefined> {
  if (reference === undefined) return undefined;
  return idIn(reference) ?? (await find(asking, reference)).id;
}

function toKind(text: string): JournalKind {
  const name = text.toLowerCase().replaceAll('_', '-');
  const place = kindNames.indexOf(name);
  if (place >= 0) return journalKinds[place]!;
  const meant = nearestName(name, kindNames);
  throw new UsageError(
    `The journal has no kind ${JSON.stringify(text)}. ${meant ? `Did you mean ${meant}?` : `It has ${kindNames.join(', ')}.`}`,
  );
}
