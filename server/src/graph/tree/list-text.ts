/**
 * Lists that show nothing of each folder but its name, its id and its title: their text is made straight from what the
 * database gives, without a folder, a node or an edge in between. Whatever else is asked for, or is not simple, is left to
 * the resolvers; so is everything that is refused.
 */

import { maxRowsPerStatement, whenDone, type PromiseOrValue } from '../../database/database.ts';
import { readChildTexts, showEverything, type ListText } from '../../folders/child-texts.ts';
import { joined, type FolderText, type FolderValue } from '../../folders/folder-text.ts';
import type { GraphContext } from '../builder.ts';
import type { MakeText, PlannedField } from '../compiled/plan.ts';
import { pageSize } from './folder-connection.ts';
import type { FolderNode } from './folder-level.ts';
import { eachText } from './planned-text.ts';

/** A field of the list: its number of folders, or the folders themselves. */
interface Part {
  readonly start: string;
  readonly field: PlannedField;
  /** Of each folder; undefined for the number. */
  readonly each: FolderText | undefined;
}

/** In which of the columns they are. */
const places: Readonly<Partial<Record<FolderValue['value'], number>>> = { name: 0, id: 1, title: 2 };

/** Undefined if the selection is not of this kind. */
export function planListText(list: PlannedField): MakeText | undefined {
  const parts: Part[] = [];
  for (const field of list.selected) {
    const each = eachText(field, () => undefined);
    if (!each && field.name !== 'totalCount') return undefined;
    const start = `${parts.length > 0 ? ',' : ''}${JSON.stringify(field.key)}:`;
    parts.push({ start, field, each: each && joined(each) });
  }
  const used = parts.flatMap(({ each = [] }) => each.flatMap((piece) => placeOf(piece) ?? []));
  if (used.length === 0) return undefined;
  const columns = used.every((place) => place === places.name) ? 'name' : 'main';

  return (objects, given, context) =>
    tryMake(objects as readonly FolderNode[], given, context as GraphContext);

  function tryMake(
    nodes: readonly FolderNode[],
    given: Readonly<Record<string, unknown>>,
    { view, budget }: GraphContext,
  ): PromiseOrValue<readonly string[]> | undefined {
    const { first, ...others } = given as { first?: number | null };
    if (Object.values(others).some((value) => value !== null && value !== undefined)) return undefined;
    const folders = nodes.map(({ folder }) => folder);
    if (!showEverything(view, folders)) return undefined;
    const { limit = Infinity } = pageSize({ first }, budget, list.info);
    const lengths = folders.map(({ childCount }) => Math.min(childCount, limit));
    const total = lengths.reduce((sum, length) => sum + length, 0);
    if (total > budget.foldersLeft) throw budget.exceeded(list.info);
    if (total > maxRowsPerStatement) return undefined;
    for (const { field, each } of parts) if (each) budget.spendFolders(total, field.info);
    return whenDone(readChildTexts(view, folders, { limit, columns }), (found) =>
      folders.map((folder) => {
        const text = found.get(folder) ?? nothing;
        // Some more than the texts take: who comes near the bound is counted exactly elsewhere.
        budget.spendTextBytes(text.bytes * used.length, list.info);
        return write(parts, text, folder.childCount);
      }),
    );
  }
}

const nothing: ListText = { bytes: 0, columns: [[]] };

function placeOf(piece: FolderText[number]): number | undefined {
  return typeof piece === 'object' && 'value' in piece ? places[piece.value] : undefined;
}

function write(parts: readonly Part[], { columns }: ListText, count: number): string {
  let text = '{';
  for (const { start, each } of parts) text += start + (each ? writeRows(each, columns) : String(count));
  return `${text}}`;
}

function writeRows(each: FolderText, columns: ListText['columns']): string {
  const { length } = columns[0]!;
  let text = '[';
  for (let row = 0; row < length; row++) {
    if (row > 0) text += ',';
    for (const piece of each) {
      text += typeof piece === 'string' ? piece : `"${columns[placeOf(piece)!]![row]!}"`;
    }
  }
  return `${text}]`;
}
