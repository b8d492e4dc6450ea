/**
 * Lists that show nothing of each folder but its name, its id and its title: their text is made straight from what the
 * database gives, without a folder, a node or an edge in between. Whatever else is asked for, or is not simple, is left to
 * the resolvers; so is everything that is refused.
 */

import { whenDone, type PromiseOrValue } from '../../database/database.ts';
import { readChildTexts, showEverything, type ListText } from '../../folders/child-texts.ts';
import type { GraphContext } from '../builder.ts';
import type { MakeText, PlannedField } from '../compiled/plan.ts';
import { pageSize } from './folder-connection.ts';
import type { FolderNode } from './folder-level.ts';

/** What stands in the text of a folder between its values, and which of them comes then. */
interface Piece {
  readonly before: string;
  readonly value: number | undefined;
}

/** A field of the list: its number of folders, or the folders themselves. */
interface Part {
  readonly start: string;
  readonly field: PlannedField;
  /** Undefined for the number. */
  readonly pieces: readonly Piece[] | undefined;
}

const places: Readonly<Record<string, number>> = { name: 0, id: 1, title: 2 };

/** Undefined if the selection is not of this kind. */
export function planListText(list: PlannedField): MakeText | undefined {
  const parts: Part[] = [];
  for (const field of list.selected) {
    const pieces = piecesOf(field);
    if (!pieces && field.name !== 'totalCount') return undefined;
    parts.push({ start: `${parts.length > 0 ? ',' : ''}${JSON.stringify(field.key)}:`, field, pieces });
  }
  const used = parts.flatMap(({ pieces = [] }) => pieces.flatMap(({ value }) => value ?? []));
  if (used.length === 0) return undefined;
  const columns = used.every((value) => value === places['name']) ? 'name' : 'main';

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
    for (const { field, pieces } of parts) if (pieces) budget.spendFolders(total, field.info);
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

function piecesOf(field: PlannedField): readonly Piece[] | undefined {
  if (field.name === 'items') return end(ofFolder(field.selected, '{'), '}');
  if (field.name !== 'edges') return undefined;
  const pieces: Piece[] = [];
  let before = '{';
  for (const each of field.selected) {
    const inside =
      each.name === 'node' ? ofFolder(each.selected, `${before}${JSON.stringify(each.key)}:{`) : undefined;
    if (!inside) return undefined;
    pieces.push(...inside.pieces);
    before = `${inside.rest}},`;
  }
  return end({ pieces, rest: before.replace(/,$/, '') }, '}');
}

interface Open {
  readonly pieces: readonly Piece[];
  /** What is written already of the next one. */
  readonly rest: string;
}

function ofFolder(selected: readonly PlannedField[], start: string): Open | undefined {
  const pieces: Piece[] = [];
  let before = start;
  for (const { key, name, constant } of selected) {
    const value = places[name];
    if (value === undefined && constant === undefined) return undefined;
    before += `${JSON.stringify(key)}:`;
    if (value === undefined) {
      before += `${constant!},`;
      continue;
    }
    pieces.push({ before, value });
    before = ',';
  }
  return { pieces, rest: before.replace(/,$/, '') };
}

function end(open: Open | undefined, text: string): readonly Piece[] | undefined {
  return open && [...open.pieces, { before: open.rest + text, value: undefined }];
}

function write(parts: readonly Part[], { columns }: ListText, count: number): string {
  let text = '{';
  for (const { start, pieces } of parts)
    text += start + (pieces ? writeRows(pieces, columns) : String(count));
  return `${text}}`;
}

function writeRows(pieces: readonly Piece[], columns: ListText['columns']): string {
  const { length } = columns[0]!;
  let text = '[';
  for (let row = 0; row < length; row++) {
    if (row > 0) text += ',';
    for (const { before, value } of pieces) {
      text += value === undefined ? before : `${before}"${columns[value]![row]!}"`;
    }
  }
  return `${text}]`;
}
