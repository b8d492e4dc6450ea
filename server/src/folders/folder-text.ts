/**
 * A folder, and what is inside it, as one text that the database writes by itself: in one statement, so of one moment, and
 * without a row or a value on the way. In the same statement it sees to it that what is known of the viewer's rights
 * still holds. Only for folders that hide nothing from the viewer.
 */

import { jsonText, jsonTexts, literal, sql, type Part, type Statement } from '../database/statement.ts';

/** What is shown of a folder, and of those inside it, in its order. */
export type FolderText = readonly (string | FolderValue | InnerFolders)[];

export interface FolderValue {
  readonly value: 'id' | 'name' | 'title' | 'childCount';
}

export interface InnerFolders {
  /** The text of each of them; commas come in between. Something in it must differ. */
  readonly each: FolderText;
  /** The parameter that says how many of them are read. */
  readonly limit: string;
  /** With more than so many there is no text. */
  readonly most: number;
}

/** In the text if somewhere there are too many. A control character, which no JSON has in it. */
export const tooMany = '\u001d';

export interface TextParameters {
  readonly id: string;
  /** There is a text only as long as this is the journal's. */
  readonly accessNumber: number;
  /** Of the lists, by the names of their parameters. */
  [limit: string]: string | number;
}

/** A quick one may be wrong where there is a backslash in what it writes. */
export function textStatement(
  text: FolderText,
  { isQuick = false } = {},
): Statement<TextParameters, { text: string }> {
  return sql<TextParameters, { text: string }>`
    select ${{ parts: expressionOf(withLiterals(text), 0, isQuick) }} as text
    from journal_counter cross join folders as f0
    where f0.id = ${'id'} and journal_counter.access_number = ${'accessNumber'}`;
}

/** How many folders are in its lists, at most. */
export function mostFolders(text: FolderText): number {
  let most = 0;
  for (const part of text) if (isInner(part)) most += part.most * (1 + mostFolders(part.each));
  return most;
}

function expressionOf(text: FolderText, depth: number, isQuick: boolean): Part[] {
  const parts: Part[] = [];
  for (const piece of text) {
    if (parts.length > 0) parts.push(' || ');
    if (typeof piece === 'string') parts.push(literal(piece));
    else parts.push(...(isInner(piece) ? innerOf(piece, depth, isQuick) : columnOf(piece, `f${depth}`)));
  }
  return parts;
}

/** Texts that stand side by side become one. */
export function joined(text: FolderText): FolderText {
  const pieces: FolderText[number][] = [];
  for (const piece of text) {
    const last = pieces.at(-1);
    if (typeof last === 'string' && typeof piece === 'string') pieces[pieces.length - 1] = last + piece;
    else pieces.push(piece);
  }
  return pieces;
}

/** Ids are put between quotes as they are. */
function withLiterals(text: FolderText): FolderText {
  return joined(
    text.flatMap((piece) => (isValue(piece) && piece.value === 'id' ? ['"', piece, '"'] : [piece])),
  );
}

function columnOf({ value }: FolderValue, folder: string): Part[] {
  switch (value) {
    case 'id':
      return [`${folder}.id`];
    case 'name':
      return [jsonText(`${folder}.name`)];
    case 'title':
      return [jsonText(`coalesce(${folder}.title, ${folder}.name)`)];
    case 'childCount':
      return [`${folder}.child_count`];
  }
}

/** What all of them begin and end with is between them, and so not put together for each. */
function innerOf(inner: InnerFolders, depth: number, isQuick: boolean): Part[] {
  const { limit, most } = inner;
  const { start, pieces, end } = takenApart(inner);
  const folder = `f${depth + 1}`;
  const between = `${end},${start}`;
  const column = isQuick ? onlyColumn(pieces) : undefined;
  const texts = column
    ? [jsonTexts(column, between)]
    : ['string_agg(', ...expressionOf(pieces, depth + 1, isQuick), `, ${literal(between)})`];
  return [
    `(select case when count(*) > ${most} then ${literal(tooMany)} when count(*) = 0 then '' else ${literal(start)} || `,
    ...texts,
    ` || ${literal(end)} end from (select ${columnsOf(pieces)} from folders `,
    `where parent_id = f${depth}.id order by sort_key, id limit `,
    { kind: 'parameter', name: limit },
    `) as ${folder})`,
  ];
}

function takenApart({ each }: InnerFolders): { start: string; pieces: FolderText; end: string } {
  const pieces = [...withLiterals(each)];
  const start = typeof pieces[0] === 'string' ? (pieces.shift() as string) : '';
  const end = typeof pieces.at(-1) === 'string' ? (pieces.pop() as string) : '';
  return { start, pieces, end };
}

/** Of a list that shows one text of each folder and nothing else. */
function onlyColumn(pieces: FolderText): string | undefined {
  const [only, ...others] = pieces;
  if (others.length > 0 || !isValue(only)) return undefined;
  if (only.value === 'name') return 'name';
  return only.value === 'title' ? titleColumn : undefined;
}

/** Of the index of the lists, in which there is no number of sub-folders, as little as possible. */
function columnsOf(pieces: FolderText): string {
  const columns = new Set<string>();
  for (const piece of pieces) {
    if (isInner(piece)) columns.add('id');
    else if (isValue(piece)) for (const column of columnsFor[piece.value]) columns.add(column);
  }
  return [...columns].join(', ');
}

const columnsFor: Readonly<Record<FolderValue['value'], readonly string[]>> = {
  id: ['id'],
  name: ['name'],
  title: ['name', 'title'],
  childCount: ['child_count'],
};
const titleColumn = 'coalesce(title, name)';

function isValue(piece: FolderText[number] | undefined): piece is FolderValue {
  return typeof piece === 'object' && 'value' in piece;
}

function isInner(piece: FolderText[number]): piece is InnerFolders {
  return typeof piece === 'object' && 'each' in piece;
}
