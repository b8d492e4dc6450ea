/** Sorts and filters the grants of a folder. */

import type { Grant } from './folder-grants.ts';

const nameCollator = new Intl.Collator('en', { numeric: true });

/** Keeps the order of folders, and sorts the grants of each folder by name, "Team 9" before "Team 10". */
export function sortGrants(grants: readonly Grant[]): readonly Grant[] {
  const folderIds = [...new Set(grants.map(({ folder }) => folder.id))];
  const rank = new Map(folderIds.map((id, index) => [id, index]));
  const sortable = grants.map((grant) => ({ grant, rank: rank.get(grant.folder.id)!, name: nameOf(grant) }));
  return sortable
    .sort((one, other) => one.rank - other.rank || nameCollator.compare(one.name, other.name))
    .map(({ grant }) => grant);
}

export function filterByName(grants: readonly Grant[], text: string): readonly Grant[] {
  const searchText = text.trim().toLowerCase();
  return searchText === ''
    ? grants
    : grants.filter((grant) => nameOf(grant).toLowerCase().includes(searchText));
}

function nameOf({ user, group }: Grant): string {
  return user?.username ?? group?.name ?? '';
}
