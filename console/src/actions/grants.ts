/** Giving a level of access on a folder and taking it away, each with the way back from it. */

import type { AccessLevel } from '../graph/folder-row.ts';
import type { About } from '../graph/use-graph.ts';
import { grantAccess, revokeAccess, type Grantee } from './access-actions.ts';
import { grantedLevel } from './granted-level.ts';
import type { BackStep } from './task.ts';

/** A grant that is there, or could be. */
export interface GrantPlace {
  readonly folderId: string;
  readonly grantee: Grantee;
  /** As in a sentence: `the grant to ada`. */
  readonly what: string;
}

type Grantable = Omit<GrantPlace, 'what'>;

export function grantCall({ folderId, grantee }: Grantable, level: AccessLevel) {
  return { action: grantAccess, variables: { input: { folderId, ...grantee, level } } };
}

/** `before` is what was granted there until now: null, if nothing was. */
export function granting(place: GrantPlace, level: AccessLevel, before: AccessLevel | null) {
  return {
    ...grantCall(place, level),
    stale: staleOf(place),
    back: () => [backStep(place, { left: level, before })],
  };
}

export function revoking(place: GrantPlace, before: AccessLevel) {
  return { ...revokingTask(place), back: () => [backStep(place, { left: null, before })] };
}

function revokingTask(place: Grantable) {
  const { folderId, grantee } = place;
  return {
    action: revokeAccess,
    variables: { input: { folderId, ...grantee } },
    stale: staleOf(place),
  };
}

function staleOf({ folderId }: Grantable): readonly About[] {
  return [['people'], ['folder', folderId]];
}

/** As long as the level is the one that was left. */
function backStep(
  place: GrantPlace,
  { left, before }: Readonly<Record<'left' | 'before', AccessLevel | null>>,
): BackStep {
  return {
    what: place.what,
    task: () =>
      before === null ? revokingTask(place) : { ...grantCall(place, before), stale: staleOf(place) },
    isAsLeft: async () => (await grantedLevel(place)) === left,
  };
}
