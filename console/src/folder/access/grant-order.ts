/** The order in which the grants of a folder are read, and finding one of them by a name. */

import type { Grant } from './grants.ts';

const byName = new Intl.Collator('en', { numeric: true });

/** Folder by folder as they come, the nearest first; on each of them by name, "Team 9" before "Team 10". */
export function inOrder(grants: readonly Grant[]): readonly Grant[] {
  const folderIds = [...new Set(grants.map(({ folder }) => folder.id))];
  const rank = new Map(folderIds.map((id, index) => [id, index]));
  const named = grants.map((grant) => ({ grant, rank: rank.get(grant.folder.id)!, name: nameOf(grant) }));
  return named
    .sort((one, other) => one.rank - other.rank || byName.compare(one.name, other.name))
    .map(({ grant }) => grant);
}

export function namedLike(grants: readonly Grant[], text: string): readonly Grant[] {
  const sought = text.trim().toLowerCase();
  return sought === '' ? grants : grants.filter((grant) => nameOf(grant).toLowerCase().includes(sought));
}

function nameOf({ user, group }: Grant): string {
  return user?.username ?? group?.name ?? '';
}
