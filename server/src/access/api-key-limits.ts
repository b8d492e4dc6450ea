/**
 * The limits of an API key, applied to the grants of its user. The key then has an ordinary `Access`, so queries, counts, search,
 * changes and events need no rules for keys.
 */

import { readApiKey } from '../accounts/api-keys.ts';
import { readInBatches, type Reader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import { accessLevels, type AccessFacts, type AccessLevel, type ApiKeyLimits } from './access.ts';
import type { Ancestry } from './ancestry.ts';

type Grants = AccessFacts['grants'];

const { NONE } = accessLevels;

interface FormerParent {
  readonly id: string;
  readonly parentId: string | null;
}

/** Includes the folders themselves. The parent of a deleted folder is the one that it had when it was deleted. */
const findFormerAncestors = sql<{ ids: readonly string[] }, FormerParent>`
  with recursive up (id, parent_id) as (
    select id, coalesce(parent_id, detached_from) from folders where id in (select value from ${list('ids')})
    union
    select folders.id, coalesce(folders.parent_id, folders.detached_from)
    from up join folders on folders.id = up.parent_id
  )
  select id, parent_id as "parentId" from up`;

/** Refuses a key that was revoked or deleted. `TokenLease` and `ApiKeyVerification` check the expiry. */
export async function readKeyLimits(reader: Reader, id: string): Promise<ApiKeyLimits> {
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
  }: { readonly grants: Grants; readonly limits: ApiKeyLimits; readonly ancestry: Ancestry },
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
  const topIds = new Set(limited.map(({ pathIds }) => pathIds[0]!).filter((id) => id !== ancestry.rootId));
  const formerlyInside = await readFormerlyInside(reader, [...topIds], folderId);
  const confined = limited.map(({ pathIds, level }) => {
    const isInside = pathIds.includes(folderId) || formerlyInside.has(pathIds[0]!);
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
 * Returns a set that contains a deleted folder only if it was inside the folder of the key. A folder can have been deleted inside
 * another one that was deleted later.
 */
async function readFormerlyInside(
  reader: Reader,
  deletedIds: readonly string[],
  folderId: string,
): Promise<ReadonlySet<string>> {
  const inside = new Set([folderId]);
  if (deletedIds.length === 0) return inside;
  const read = (ids: readonly string[]) => reader.all(findFormerAncestors, { ids }, ids.length);
  const children = Map.groupBy(await readInBatches(deletedIds, read), ({ parentId }) => parentId);
  // The loop also visits the ids that it adds.
  for (const id of inside) children.get(id)?.forEach((child) => inside.add(child.id));
  return inside;
}
