/**
 * Lists of sub-folders as texts, for answers that show nothing but what an index holds: no folder is ever made of them.
 * Only of parents that hide nothing from the viewer; all others go the way of `children.ts`.
 */

import { accessLevels } from '../access/access-level.ts';
import { whenDone, type PromiseOrValue } from '../database/database.ts';
import { columnEnd } from '../database/statement.ts';
import { textStatements, type TextColumns } from './child-statements.ts';
import { isInhabited, mostRows, restrictionOf } from './children.ts';
import type { Folder, TreeView } from './folders.ts';

export interface ListText {
  /** Of all the texts together, or some more. */
  readonly bytes: number;
  /** The names, then perhaps the ids and the titles: one for each folder, as they stand between the quotes in JSON. */
  readonly columns: readonly (readonly string[])[];
}

/** Whether all that is inside these folders is shown to the viewer as it is. */
export function showEverything(view: TreeView, parents: readonly Folder[]): boolean {
  return (
    restrictionOf(view) === 'none' && parents.every(({ accessLevel }) => accessLevel >= accessLevels.READ)
  );
}

/** For each of the parents that have any, its first sub-folders in natural order. */
export function readChildTexts(
  { reader }: TreeView,
  parents: readonly Folder[],
  { limit, columns }: { readonly limit: number; readonly columns: TextColumns },
): PromiseOrValue<ReadonlyMap<Folder, ListText>> {
  const inhabited = parents.filter(isInhabited);
  if (inhabited.length === 0) return new Map();
  const parameters = { parentIds: inhabited.map(({ id }) => id), limit: Math.min(limit, mostRows) };
  return whenDone(reader.all(textStatements[columns], parameters), (rows) => {
    const texts = new Map<Folder, ListText>();
    for (const { place, list } of rows) {
      if (list === null || list.startsWith('[]')) continue;
      const arrays = list.split(columnEnd);
      texts.set(inhabited[place]!, { bytes: Buffer.byteLength(list), columns: arrays.map(textsIn) });
    }
    return texts;
  });
}

/** Of a JSON array of texts. Where nothing is escaped, all quotes are those around the texts. */
function textsIn(array: string): readonly string[] {
  if (!array.includes('\\')) return array.slice(2, -2).split('","');
  return (JSON.parse(array) as string[]).map((text) => JSON.stringify(text).slice(1, -1));
}
