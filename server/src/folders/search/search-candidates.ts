/**
 * The folders that a search examines, in batches. For a viewer who sees few folders these are the visible ones, so that
 * hidden folders cost nothing. For everyone else an index selects the folders whose name or title may match.
 */

import { accessLevels, type Access } from '../../access/access.ts';
import {
  childrenOf,
  firstId,
  hexOf,
  list,
  possibleMatches,
  sql,
  type Statement,
} from '../../database/statement.ts';
import { visibleLevel, type TreeView } from '../tree-view.ts';

/** A position among the candidates of a search: by number, or, for a short text, by name or title and id. */
type CandidatePosition = readonly ['number', number] | readonly ['name' | 'title', string, string];

/**
 * The candidates of a search that are ranked together. Usually one section holds all candidates. If a search examines many folders
 * without a match, its page and its section end early. The last candidate may then be hidden from the viewer.
 */
export interface Section {
  /** The section starts after this position, or with the first candidate if undefined. */
  readonly start?: CandidatePosition | undefined;
  /** The section ends with this position, or with the last candidate if undefined. */
  readonly end?: CandidatePosition | undefined;
  /** The number of matches in earlier sections. */
  readonly countBefore: number;
  /** With `words`, only matches of single words on the path. They come after all matches of the whole text. */
  readonly stage?: 'words' | undefined;
}

export interface Candidate {
  readonly id: string;
  readonly parentId: string | null;
  /** See `hexOf`. */
  readonly sortKey: string;
  readonly foldedName: string;
  readonly foldedTitle: string | null;
  /** Whether an earlier batch of the same search contained this folder. */
  readonly isRepeated?: boolean;
}

interface Batch {
  readonly candidates: readonly Candidate[];
  /** Where the next batch starts; undefined if this is the last one. */
  readonly end: CandidatePosition | undefined;
}

const { READ } = accessLevels;
export const batchSize = 500;
/** For a viewer who sees at most this many folders, a search examines all visible folders instead of using the index. */
const maxVisible = 1_000;
/** Examining a row in the database takes half as long as reading it. */
const rowsToFind = maxVisible / 2;
/** The trigram index needs this many characters. For shorter texts, only the beginnings of names and titles match. */
const minInsideLength = 3;

interface NumberedCandidate extends Candidate {
  readonly number: number;
}

const candidateColumns = sql`folders.id, folders.parent_id as "parentId", ${hexOf('folders.sort_key')} as "sortKey",
  folders.folded_name as "foldedName", folders.folded_title as "foldedTitle"`;

// The folders in `closedIds` are visible, but their children are not. The recursion stops at the folders in `accessIds`: if they
// are visible, they are already in one of the two lists. The row with the number `limit` is returned even if it does not match: it
// shows that there are at least that many folders. A second use of `visible` would make SQLite read all of them.
const findVisible = sql<
  {
    closedIds: readonly string[];
    openIds: readonly string[];
    accessIds: readonly string[];
    pattern: string;
    limit: number;
  },
  NumberedCandidate
>`
  with recursive visible (id, parent_id, sort_key, folded_name, folded_title) as (
    select id, parent_id, sort_key, folded_name, folded_title from folders
    where id in (select value from ${list('openIds')})
    union all
    select folders.id, folders.parent_id, folders.sort_key, folders.folded_name, folders.folded_title
    from visible cross join ${childrenOf('visible')}
    where folders.parent_id = visible.id and folders.id not in (select value from ${list('accessIds')})
  ), open as (
    select *, row_number() over () as number from (select * from visible limit ${'limit'}) as first_visible
  )
  select ${candidateColumns}, 0 as number from folders
  where id in (select value from ${list('closedIds')})
  union all
  select id, parent_id, ${hexOf('sort_key')}, folded_name, folded_title, number from open
  where folded_name like ${'pattern'} escape '!' or folded_title like ${'pattern'} escape '!' or number = ${'limit'}`;

const findInside = sql<{ text: string; after: number; limit: number }, NumberedCandidate>`
  select ${candidateColumns}, folders.number
  from ${possibleMatches({ text: 'text', after: 'after', limit: 'limit' })}
  cross join folders where folders.number = possible.number order by folders.number`;

interface Range {
  readonly from: string;
  readonly fromId: string;
  readonly to: string;
  readonly toId: string;
  readonly limit: number;
}

const createRangeStatement = (column: Statement, condition: Statement) => sql<Range, Candidate>`
  select ${candidateColumns} from folders
  where ${condition} (${column}, id) > (${'from'}, ${'fromId'}) and (${column}, id) <= (${'to'}, ${'toId'})
  order by ${column}, id limit ${'limit'}`;
const findByName = createRangeStatement(sql`folded_name`, sql``);
const findByTitle = createRangeStatement(sql`folded_title`, sql`folded_title is not null and`);

/** Yields each folder that may match; the caller compares the texts and checks the viewer's access. */
export async function* readCandidates(
  view: TreeView,
  text: string,
  section: Section,
  underId: string | undefined,
): AsyncGenerator<Batch> {
  const isWhole = section.start === undefined && section.end === undefined;
  const visible = isWhole ? await readVisible(view, text, underId) : undefined;
  if (visible) yield { candidates: visible, end: undefined };
  else if (isInsideText(text)) yield* readInside(view, text, section);
  else yield* readBeginnings(view, text, section);
}

/**
 * The rights of viewers who see more than `maxVisible` folders. This remains true as long as an `Access` object is in use: a deleted or
 * moved folder changes the journal's access number, and the server then reads all rights again.
 */
const seesMany = new WeakSet<Access>();

/** The visible folders that may match; undefined if the viewer sees too many. Its cost does not depend on hidden folders. */
async function readVisible(
  view: TreeView,
  text: string,
  underId: string | undefined,
): Promise<readonly Candidate[] | undefined> {
  const { access, ancestry, reader } = view;
  if (access.isAdministrator || seesMany.has(access)) return undefined;
  const accessIds = [...access.grantPathIds];
  if (accessIds.length > maxVisible) return undefined;
  const topIds = [...new Set(underId === undefined ? accessIds : [underId, ...accessIds])];
  await ancestry.load(topIds);
  const openIds: string[] = [];
  const closedIds: string[] = [];
  for (const id of topIds) {
    const level = visibleLevel(view, id);
    if (level === undefined || (underId && id !== underId && !isInside(view, id, underId))) continue;
    (level >= READ ? openIds : closedIds).push(id);
  }
  const limit = maxVisible + 1 - closedIds.length;
  const parameters = { closedIds, openIds, accessIds: topIds, pattern: patternOf(text), limit };
  const rows = await reader.all(findVisible, parameters, rowsToFind);
  if (!rows.some(({ number }) => number === limit)) return rows;
  seesMany.add(access);
  return undefined;
}

/** The pattern for `like`. */
function patternOf(text: string): string {
  const escaped = text.replace(/[!%_]/g, '!$&');
  return isInsideText(text) ? `%${escaped}%` : `${escaped}%`;
}

/** Whether the text is long enough to be found inside names and titles. */
export function isInsideText(text: string): boolean {
  return [...text].length >= minInsideLength;
}

export function isInside({ ancestry }: TreeView, id: string, underId: string): boolean {
  return id !== underId && (ancestry.pathTo(id)?.includes(underId) ?? false);
}

async function* readInside({ reader }: TreeView, text: string, section: Section): AsyncGenerator<Batch> {
  const last = section.end?.[0] === 'number' ? section.end[1] : Infinity;
  for (let after = section.start?.[0] === 'number' ? section.start[1] : 0; ;) {
    const rows = await reader.all(findInside, { text, after, limit: batchSize });
    const candidates = rows.filter(({ number }) => number <= last);
    const isLast = rows.length < batchSize || candidates.length < rows.length;
    after = rows.at(-1)?.number ?? after;
    yield { candidates, end: isLast ? undefined : ['number', after] };
    if (isLast) return;
  }
}

/** Names first, then titles. */
async function* readBeginnings(view: TreeView, text: string, section: Section): AsyncGenerator<Batch> {
  const { start, end } = section;
  if (start?.[0] !== 'title') {
    const isLast = end?.[0] === 'name';
    yield* readRange(view, text, section, 'name', isLast);
    if (isLast) return;
  }
  for await (const batch of readRange(view, text, section, 'title', true)) {
    const isRepeated = ({ foldedName }: Candidate) => foldedName.startsWith(text);
    const candidates = batch.candidates.map((each) => ({ ...each, isRepeated: isRepeated(each) }));
    yield { ...batch, candidates };
  }
}

async function* readRange(
  { reader }: TreeView,
  text: string,
  { start, end }: Section,
  by: 'name' | 'title',
  isLast: boolean,
): AsyncGenerator<Batch> {
  const statement = by === 'name' ? findByName : findByTitle;
  let [, from, fromId] = start?.[0] === by ? start : [by, text, firstId];
  const [, to, toId] = end?.[0] === by ? end : [by, endOfBeginnings(text), firstId];
  for (;;) {
    const candidates = await reader.all(statement, { from, fromId, to, toId, limit: batchSize });
    const last = candidates.at(-1);
    const isDone = !last || candidates.length < batchSize;
    if (last) {
      from = by === 'name' ? last.foldedName : last.foldedTitle!;
      fromId = last.id;
    }
    yield {
      candidates,
      end: isDone && isLast ? undefined : isDone ? ['title', text, firstId] : [by, from, fromId],
    };
    if (isDone) return;
  }
}

/** The first text, in the order of code points, after all texts with this beginning. */
function endOfBeginnings(text: string): string {
  const letters = [...text];
  const last = letters.pop()!.codePointAt(0)!;
  if (last === 0x10ffff) return `${text}\u{10ffff}`;
  return letters.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
}
