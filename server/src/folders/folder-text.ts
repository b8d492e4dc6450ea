/**
 * A folder, and what is inside it, as one text that the database writes by itself: in one statement, so of one moment, and
 * without a row or a value on the way. With it comes where the journal has got to then, by which the caller can tell
 * whether what it knows of the viewer's rights still holds. Only for folders that hide nothing from the viewer.
 */

import { LRUCache } from 'lru-cache';
import { jsonText, sql, type Part, type Statement } from '../database/statement.ts';
import type { JournalHead } from '../journal/journal.ts';

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

export interface WrittenText extends JournalHead {
  /** With `tooMany` in it if somewhere there are too many. */
  readonly text: string;
}

/** A control character, which no JSON has in it. */
export const tooMany = '\u001d';

/** By the names of its parameters. */
export type TextParameters = Record<string, string | number>;

/** A prepared statement takes some kilobytes: those of the queries that came last. */
const mostStatements = 200;
const statements = new LRUCache<FolderText, Statement<TextParameters, WrittenText>>({ max: mostStatements });

export function textStatement(text: FolderText): Statement<TextParameters, WrittenText> {
  let statement = statements.get(text);
  if (!statement) statements.set(text, (statement = write(text)));
  return statement;
}

function write(text: FolderText): Statement<TextParameters, WrittenText> {
  return sql<TextParameters, WrittenText>`
    select journal_counter.number, journal_counter.nonce, journal_counter.access_number as "accessNumber",
      ${{ parts: expressionOf(withLiterals(text), 0) }} as text
    from journal_counter cross join folders as f0 where f0.id = ${'id'}`;
}

/** How many folders are in its lists, at most. */
export function mostFolders(text: FolderText): number {
  let most = 0;
  for (const part of text) if (isInner(part)) most += part.most * (1 + mostFolders(part.each));
  return most;
}

function expressionOf(text: FolderText, depth: number): Part[] {
  const parts: Part[] = [];
  for (const piece of text) {
    if (parts.length > 0) parts.push(' || ');
    if (typeof piece === 'string') parts.push(literal(piece));
    else parts.push(...(isInner(piece) ? innerOf(piece, depth) : columnOf(piece, `f${depth}`)));
  }
  return parts;
}

/** Ids are put between quotes as they are; what stands side by side becomes one. */
function withLiterals(text: FolderText): FolderText {
  const pieces: (string | FolderValue | InnerFolders)[] = [];
  const add = (literal: string) => {
    const last = pieces.at(-1);
    if (typeof last === 'string') pieces[pieces.length - 1] = last + literal;
    else pieces.push(literal);
  };
  for (const piece of text) {
    if (typeof piece === 'string') add(piece);
    else if (isInner(piece) || piece.value !== 'id') pieces.push(piece);
    else {
      add('"');
      pieces.push(piece);
      add('"');
    }
  }
  return pieces;
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
function innerOf({ each, limit, most }: InnerFolders, depth: number): Part[] {
  const pieces = [...withLiterals(each)];
  const start = typeof pieces[0] === 'string' ? (pieces.shift() as string) : '';
  const end = typeof pieces.at(-1) === 'string' ? (pieces.pop() as string) : '';
  const folder = `f${depth + 1}`;
  return [
    `(select case when count(*) > ${most} then ${literal(tooMany)} else coalesce(${literal(start)} || string_agg(`,
    ...expressionOf(pieces, depth + 1),
    `, ${literal(`${end},${start}`)}) || ${literal(end)}, '') end from (select ${columnsOf(pieces)} from folders `,
    `where parent_id = f${depth}.id order by sort_key, id limit `,
    { kind: 'parameter', name: limit },
    `) as ${folder})`,
  ];
}

/** The number of sub-folders alone is not in the index of the lists. */
function columnsOf(pieces: FolderText): string {
  const isCounted = pieces.some((piece) => isValue(piece) && piece.value === 'childCount');
  return `id, name, title${isCounted ? ', child_count' : ''}`;
}

function isValue(piece: FolderText[number]): piece is FolderValue {
  return typeof piece === 'object' && 'value' in piece;
}

function isInner(piece: FolderText[number]): piece is InnerFolders {
  return typeof piece === 'object' && 'each' in piece;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
