/** What was granted to users and groups: for all of a level at once, in the order of the tree, on folders that are seen. */

import { readGrantsTo, type Grant } from '../../access/grants.ts';
import type { TreeView } from '../../folders/folders.ts';
import { sortKey } from '../../folders/sort-key.ts';
import { readFolderNodes, type FolderNode } from './folder-level.ts';

export interface PlacedGrant {
  readonly grant: Grant;
  readonly folder: FolderNode;
}

/** By whom they are for. A folder off the tree, or not seen by the viewer, is not there. Undefined if there are more than `most`. */
export async function readPlacedGrants(
  view: TreeView,
  subjectIds: readonly string[],
  most: number,
): Promise<ReadonlyMap<string, readonly PlacedGrant[]> | undefined> {
  const grants = await readGrantsTo(view.reader, subjectIds, most + 1);
  if (grants.length > most) return undefined;
  const folders = await readFolderNodes(view, [...new Set(grants.map(({ folderId }) => folderId))]);
  const places = await placesOf([...folders.values()]);
  const placed = grants.flatMap((grant) => {
    const folder = folders.get(grant.folderId);
    return folder ? [{ grant, folder }] : [];
  });
  const inOrder = placed.toSorted((one, other) =>
    compareWays(places.get(one.folder.id)!, places.get(other.folder.id)!),
  );
  return Map.groupBy(inOrder, ({ grant }) => grant.subject.id);
}

interface Step {
  readonly id: string;
  readonly key: Uint8Array;
}

/** Of each folder, the steps that lead to it. */
async function placesOf(folders: readonly FolderNode[]): Promise<ReadonlyMap<string, readonly Step[]>> {
  const known = new Map<string, Step>();
  const stepAt = ({ id, folder }: FolderNode): Step => {
    let step = known.get(id);
    if (!step) known.set(id, (step = { id, key: sortKey(folder.name) }));
    return step;
  };
  const places = new Map<string, readonly Step[]>();
  for (const node of folders) {
    const above = await node.ancestors;
    places.set(node.id, [...above, node].map(stepAt));
  }
  return places;
}

/** Each folder before what is inside it; siblings in natural order. */
function compareWays(one: readonly Step[], other: readonly Step[]): number {
  const depth = Math.min(one.length, other.length);
  for (let at = 0; at < depth; at++) {
    const [a, b] = [one[at]!, other[at]!];
    if (a.id !== b.id) return Buffer.compare(a.key, b.key) || (a.id < b.id ? -1 : 1);
  }
  return one.length - other.length;
}
