/**
 * The limits of an API key, applied to the grants of its user. The key then has an ordinary `Access`, so queries, counts, search,
 * changes and events need no rules for keys.
 */

import { readApiKey } from '../accounts/api-keys.ts';
import type { Reader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import { accessLevels, type AccessFacts, type AccessLevel, type ApiKeyLimits } from './access.ts';
import type { Ancestry } from './ancestry.ts';

export interface KeyLimits extends ApiKeyLimits {
  /** Whether the key keeps the administrator role of its user. */
  readonly isAdministrator: boolean;
}

type Grants = AccessFacts['grants'];

const { NONE } = accessLevels;

const findFormerParents = sql<{ ids: readonly string[] }, { id: string; formerParentId: string }>`
  select id, detached_from as "formerParentId" from folders
  where id in (select value from ${list('ids')}) and detached_from is not null`;

/** Refuses a key that was revoked or deleted. `TokenLease` and `ApiKeyVerification` check the expiry. */
export async function readKeyLimits(reader: Reader, id: string): Promise<KeyLimits> {
  const key = await readApiKey(reader, id);
  if (!key || key.revokedAt !== null) throw new Refusal('INVALID_AUTH_TOKEN', 'This API key was revoked.');
  const { level, folderId, isAdministrator } = key;
  return { id, level, folderId, isAdministrator };
}

/**
 * Lowers each grant to the level of the key. Because the nearest grant decides, the result is the lower of both levels on every
 * folder. A confined key keeps the grants inside its folder, and a grant of the user's level on the folder itself. All others become
 * NONE. They are not removed: the change feed compares earlier paths with the current access, and a hidden folder that was moved out
 * of the folder of the key would otherwise appear at its earlier path.
 */
export async function limitGrants(
  reader: Reader,
  {
    grants,
    limits: { level: max, folderId },
    ancestry,
  }: { readonly grants: Grants; readonly limits: KeyLimits; readonly ancestry: Ancestry },
): Promise<Grants> {
  const limited = grants.map(({ pathIds, level }) => ({
    pathIds,
    level: Math.min(level, max) as AccessLevel,
  }));
  if (folderId === null) return limited;
  await ancestry.load([folderId]);
  const folderPath = ancestry.pathTo(folderId);
  // The folder is in the trash or was purged. The key reads nothing until the folder is restored.
  if (!folderPath) return [];
  const formerPaths = await readFormerPaths(reader, ancestry, limited);
  const confined = limited.map(({ pathIds, level }) => {
    const isInside = (formerPaths.get(pathIds[0]!) ?? []).concat(pathIds).includes(folderId);
    return { pathIds, level: isInside ? level : NONE };
  });
  if (confined.some(({ pathIds }) => pathIds.at(-1) === folderId)) return confined;
  return [...confined, { pathIds: folderPath, level: levelAt(limited, folderPath) }];
}

/** The level on the last folder of a path. The nearest grant decides; `grants` has one per folder. */
function levelAt(grants: Grants, pathIds: readonly string[]): AccessLevel {
  const levels = new Map(grants.map((grant) => [grant.pathIds.at(-1)!, grant.level]));
  const nearestId = pathIds.findLast((id) => levels.has(id));
  return nearestId === undefined ? NONE : levels.get(nearestId)!;
}

/**
 * By the id of a deleted folder: the ids above it when it was deleted. Such a folder can have been deleted inside another one that was
 * deleted later.
 */
async function readFormerPaths(
  reader: Reader,
  ancestry: Ancestry,
  grants: Grants,
): Promise<ReadonlyMap<string, string[]>> {
  const { rootId } = ancestry;
  const formerPaths = new Map<string, string[]>();
  let topIds = [...new Set(grants.map(({ pathIds }) => pathIds[0]!))].filter((id) => id !== rootId);
  const parents = new Map<string, string>();
  while (topIds.length > 0) {
    const found = await reader.all(findFormerParents, { ids: topIds });
    for (const { id, formerParentId } of found) parents.set(id, formerParentId);
    await ancestry.load(found.map(({ formerParentId }) => formerParentId));
    topIds = found
      .map(({ formerParentId }) => ancestry.pathFromTop(formerParentId)[0]!)
      .filter((id) => id !== rootId && !parents.has(id));
  }
  for (const id of parents.keys()) {
    const path: string[] = [];
    for (let parentId = parents.get(id); parentId !== undefined; parentId = parents.get(path[0]!)) {
      path.unshift(...ancestry.pathFromTop(parentId));
    }
    formerPaths.set(id, path);
  }
  return formerPaths;
}
