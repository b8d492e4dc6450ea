/**
 * What a change of somebody's access does to what they see: the topmost folders that it uncovers or hides. All that is
 * inside those is different with them and need not be named.
 */

import { whenDone, type PromiseOrValue } from '../database/database.ts';
import { accessLevels } from './access-level.ts';
import type { Access } from './access.ts';
import type { Ancestry } from './ancestry.ts';

export interface AccessEffect {
  readonly folderId: string;
  /** Uncovered: more of it, or of what is inside, is seen. Level: the same is seen, and another thing may be done. */
  readonly effect: 'uncovered' | 'hidden' | 'level';
}

const { READ } = accessLevels;

/**
 * In the whole tree, or inside the folder `under`. `ancestry` is of the tree as it is now. What is seen inside an
 * uncovered folder may also be less than before.
 */
export function compareSight(
  before: Access,
  after: Access,
  { ancestry, under = after.rootId }: { readonly ancestry: Ancestry; readonly under?: string | undefined },
): PromiseOrValue<readonly AccessEffect[]> {
  const ids = [...new Set([...before.remarkableIds, ...after.remarkableIds, under])];
  return whenDone(ancestry.load(ids), () => {
    const ways = ids.map((id) => ({ id, way: ancestry.wayTo(id) }));
    const onTree = ways.filter((each): each is OnTree => each.way !== undefined);
    const offTree = ways.filter(({ way }) => !way).map(({ id }) => id);
    const inside = onTree.filter(({ way }) => way.includes(under));
    return [
      ...(under === after.rootId ? lost(before, ancestry, offTree) : []),
      ...topmost(before, after, inside),
    ];
  });
}

interface OnTree {
  readonly id: string;
  readonly way: readonly string[];
}

function topmost(before: Access, after: Access, onTree: readonly OnTree[]): AccessEffect[] {
  const decided = new Set<string>();
  const relevelled = new Set<string>();
  const effects: AccessEffect[] = [];
  for (const { id: folderId, way } of onTree.toSorted((one, other) => one.way.length - other.way.length)) {
    if (way.some((above) => decided.has(above))) continue;
    const effect = effectOn(before, after, way);
    if (effect === 'level' && way.some((above) => relevelled.has(above))) continue;
    if (!effect) continue;
    (effect === 'level' ? relevelled : decided).add(folderId);
    effects.push({ folderId, effect });
  }
  return effects;
}

function effectOn(before: Access, after: Access, way: readonly string[]): AccessEffect['effect'] | undefined {
  const id = way.at(-1)!;
  const [old, now] = [before.levelAlong(way), after.levelAlong(way)];
  const [wasSeen, isSeen] = [before.isVisible(id, old), after.isVisible(id, now)];
  if (wasSeen !== isSeen) return isSeen ? 'uncovered' : 'hidden';
  if (!isSeen || old === now) return undefined;
  // A passage shows only what leads on: what is inside differs, too.
  return old >= READ === now >= READ ? 'level' : 'uncovered';
}

/** Of what was seen and is off the tree now, the topmost that was seen. */
function lost(before: Access, ancestry: Ancestry, offTree: readonly string[]): AccessEffect[] {
  const { remarkableIds } = before;
  const sees = (id: string) => remarkableIds.has(id) && before.isVisible(id, before.levelAlong([id]));
  const tops = offTree.filter(sees).map((id) => ancestry.wayFromTop(id).find(sees)!);
  return [...new Set(tops)].map((folderId) => ({ folderId, effect: 'hidden' }));
}
