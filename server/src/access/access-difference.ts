/**
 * What a change of somebody's access does to what they see: the topmost folders that it uncovers or hides. All that is
 * inside those is different with them and need not be named.
 */

import type { Reader } from '../database/database.ts';
import { accessLevels } from './access-level.ts';
import type { Access } from './access.ts';
import { ancestryAt } from './past-ancestry.ts';

/** Uncovered: more of it, or of what is inside, is seen. Level: the same is seen, and another thing may be done. */
export type SightEffect = 'uncovered' | 'hidden' | 'level';

export interface AccessEffect {
  readonly folderId: string;
  readonly effect: SightEffect;
}

export interface AccessChange {
  readonly before: Access;
  readonly after: Access;
  /** The place in the journal to whose tree it is applied: the one of which the viewer knows. */
  readonly number: number;
  /** Only this folder and what is inside. */
  readonly under?: string | undefined;
}

const { READ } = accessLevels;

/** What is seen inside an uncovered folder may also be less than before. */
export async function compareSight(
  reader: Reader,
  { before, after, number, under }: AccessChange,
): Promise<readonly AccessEffect[]> {
  const { rootId } = after;
  const top = under ?? rootId;
  const ids = [...new Set([...before.remarkableIds, ...after.remarkableIds, top])];
  const ancestry = await ancestryAt(reader, { rootId, number }, ids);
  const ways = ids.map((id) => ancestry.wayTo(id) ?? []).filter((way) => way.includes(top));
  return topmost(before, after, ways);
}

function topmost(before: Access, after: Access, ways: readonly (readonly string[])[]): AccessEffect[] {
  const decided = new Set<string>();
  const relevelled = new Set<string>();
  const effects: AccessEffect[] = [];
  for (const way of ways.toSorted((one, other) => one.length - other.length)) {
    if (way.some((above) => decided.has(above))) continue;
    const effect = sightEffect({ access: before, way }, { access: after, way });
    if (!effect || (effect === 'level' && way.some((above) => relevelled.has(above)))) continue;
    const folderId = way.at(-1)!;
    (effect === 'level' ? relevelled : decided).add(folderId);
    effects.push({ folderId, effect });
  }
  return effects;
}

/** A way to a folder, and with whose eyes it is looked at. */
export interface Look {
  readonly access: Access;
  readonly way: readonly string[];
}

/** What becomes of a folder for somebody whose access, or the way to it, is another. */
export function sightEffect(before: Look, after: Look): SightEffect | undefined {
  const wasSeen = before.access.seesAlong(before.way);
  const isSeen = after.access.seesAlong(after.way);
  if (!isSeen) return wasSeen ? 'hidden' : undefined;
  const [old, now] = [before.access.levelAlong(before.way), after.access.levelAlong(after.way)];
  // A passage shows only what leads on: what is inside differs, too.
  if (!wasSeen || old >= READ !== now >= READ) return 'uncovered';
  return old === now ? undefined : 'level';
}
