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
import { readChildren, visibleChildCount } from '../children/children.ts';
import { readFolders, visibleLevel, type Folder, type TreeView } from '../folders.ts';
import type { CandidatePosition, Section } from '../cursor.ts';

export interface Candidate {
  readonly id: string;
  readonly parentId: string | null;
  /** See `hexOf`. */
  readonly sortKey: string;
  readonly foldedName: string;
  readonly foldedTitle: string | null;
  /** An earlier batch of the same search had this folder. */
  readonly isRepeated?: boolean;
}

export interface Batch {
  readonly candidates: readonly Candidate[];
  /** Where the next batch starts; undefined if this is the last one. */
  readonly end: CandidatePosition | undefined;
}

const { READ } = accessLevels;
export const batchSize = 500;
/** A viewer who sees no more than this has all visible folders examined instead of the index. */
const maxVisible = 1_000;
/** Examining a row in the database takes half as long as reading it. */
const rowsToFind = maxVisible / 2;
/** The trigram index needs this many characters. For shorter texts only the beginnings of names and titles match. */
const minInsideLength = 3;

interface CountRow {
  readonly id: null;
  readonly count: number;
}

const candidateColumns = sql`folders.id, folders.parent_id as "parentId", ${hexOf('folders.sort_key')} as "sortKey",
  folders.folded_name as "foldedName", folders.folded_title as "foldedTitle"`;

// `closedIds` are visible but not their children. No folder in `accessIds` is reached from above: each is in one of the
// lists. A row without an id has the number of folders in `openIds` and below them, up to the limit.
const findVisible = sql<
  {
    closedIds: readonly string[];
    openIds: readonly string[];
    accessIds: readonly string[];
    pattern: string;
    limit: number;
  },
  CountRow | Candidate
>`
  with recursive visible (id, parent_id, sort_key, folded_name, folded_title) as (
    select id, parent_id, sort_key, folded_name, folded_title from folders
    where id in (select value from ${list('openIds')})
    union all
    select folders.id, folders.parent_id, folders.sort_key, folders.folded_name, folders.folded_title
    from visible cross join ${childrenOf('visible')}
    where folders.parent_id = visible.id and folders.id not in (select value from ${list('accessIds')})
  ), open as (select * from visible limit ${'limit'})
  select count(*) as count, null as id, null as "parentId", null as "sortKey", null as "foldedName", null as "foldedTitle"
  from open
  union all
  select null, ${candidateColumns} from folders
  where id in (select value from ${list('closedIds')})
  union all
  select null, id, parent_id, ${hexOf('sort_key')}, folded_name, folded_title from open
  where folded_name like ${'pattern'} escape '!' or folded_title like ${'pattern'} escape '!'`;

const findInside = sql<{ text: string; after: number; limit: number }, Candidate & { number: number }>`
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

const findByName = sql<Range, Candidate>`
  select ${candidateColumns} from folders
  where (folded_name, id) > (${'from'}, ${'fromId'}) and (folded_name, id) <= (${'to'}, ${'toId'})
  order by folded_name, id limit ${'limit'}`;
const findByTitle = sql<Range, Candidate>`
  select ${candidateColumns} from folders
  where folded_title is not null and (folded_title, id) > (${'from'}, ${'fromId'})
    and (folded_title, id) <= (${'to'}, ${'toId'})
  order by folded_title, id limit ${'limit'}`;

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
 * Whether viewers with these rights see more than `maxVisible` folders. `many` remains true while the same rights hold: a folder
 * that is deleted or moved changes the journal's access number, and all rights are read again. `few` is checked by each search.
 */
const sizeOfView = new WeakMap<Access, 'few' | 'many'>();

/**
 * The folders that the viewer sees and that may match; undefined if the viewer sees too many. Its cost does not depend on
 * hidden folders.
 */
async function readVisible(
  view: TreeView,
  text: string,
  underId: string | undefined,
): Promise<readonly Candidate[] | undefined> {
  const { access, ancestry, reader } = view;
  if (access.isAdministrator || sizeOfView.get(access) === 'many') return undefined;
  const accessIds = [...access.grantPathIds];
  if (accessIds.length > maxVisible) return undefined;
  const topIds = new Set(underId === undefined ? accessIds : [underId, ...accessIds]);
  await ancestry.load([...topIds]);
  const openIds: string[] = [];
  const closedIds: string[] = [];
  for (const id of topIds) {
    const level = visibleLevel(view, id);
    if (level === undefined || (underId && id !== underId && !isInside(view, id, underId))) continue;
    (level >= READ ? openIds : closedIds).push(id);
  }
  const isWhole = underId === undefined;
  const isSmall = isWhole && sizeOfView.get(access) === 'few';
  if (!isSmall && (await seesMany(view, openIds, topIds))) {
    if (isWhole) sizeOfView.set(access, 'many');
    return undefined;
  }
  const parameters = {
    closedIds,
    openIds,
    accessIds: [...topIds],
    pattern: patternOf(text),
    limit: maxVisible + 1,
  };
  const rows = await reader.all(findVisible, parameters, rowsToFind);
  const { count } = rows.find((row): row is CountRow => row.id === null)!;
  const isMany = count + closedIds.length > maxVisible;
  if (isWhole) sizeOfView.set(access, isMany ? 'many' : 'few');
  return isMany ? undefined : rows.filter((row): row is Candidate => row.id !== null);
}

/** The pattern for `like`. */
function patternOf(text: string): string {
  const escaped = text.replace(/[!%_]/g, '!$&');
  return isInsideText(text) ? `%${escaped}%` : `${escaped}%`;
}

/** The text is long enough to be found inside names and titles. */
export function isInsideText(text: string): boolean {
  return [...text].length >= minInsideLength;
}

const maxRounds = 4;
const parentsPerRound = 4;
const childrenPerParent = 20;

/**
 * Adds up the child counts of a few visible folders. Returns true if the viewer sees more than `maxVisible` folders; false
 * can also mean that the sum was too small to decide. Subtracts `topIds`, because they may also be children of others.
 */
async function seesMany(
  view: TreeView,
  openIds: readonly string[],
  topIds: ReadonlySet<string>,
): Promise<boolean> {
  let count = -topIds.size;
  let found: Iterable<Folder> = (await readFolders(view, openIds)).values();
  const parents: Folder[] = [];
  for (let round = 0; round <= maxRounds; round++) {
    for (const folder of found) {
      count += visibleChildCount(view, folder);
      if (folder.childCount > 0) parents.push(folder);
    }
    if (count > maxVisible) return true;
    if (parents.length === 0) return false;
    const { byParent } = await readChildren(
      view,
      takeSome(parents, parentsPerRound),
      { limit: childrenPerParent },
      maxVisible,
    );
    found = [...byParent.values()].flatMap(({ folders }) => folders).filter(({ id }) => !topIds.has(id));
  }
  return false;
}

/** Removes and returns some parents with few children, spread over the list: folders with many children often hold leaves only. */
function takeSome(parents: Folder[], count: number): Folder[] {
  parents.sort((one, other) => one.childCount - other.childCount);
  const among = Math.max(count, Math.ceil(parents.length / 2));
  const step = Math.max(1, Math.floor(among / count));
  const taken: Folder[] = [];
  for (let index = Math.min(among, parents.length) - 1; index >= 0 && taken.length < count; index -= step) {
    taken.push(...parents.splice(index, 1));
  }
  return taken;
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
    const batches = readRange(view, text, section, { by: 'name', find: findByName, isLast });
    for await (const batch of batches) yield batch;
    if (isLast) return;
  }
  for await (const batch of readRange(view, text, section, {
    by: 'title',
    find: findByTitle,
    isLast: true,
  })) {
    const isRepeated = ({ foldedName }: Candidate) => foldedName.startsWith(text);
    yield {
      ...batch,
      candidates: batch.candidates.map((each) => ({ ...each, isRepeated: isRepeated(each) })),
    };
  }
}

interface RangeOptions {
  readonly by: 'name' | 'title';
  readonly find: Statement<Range, Candidate>;
  readonly isLast: boolean;
}

async function* readRange(
  { reader }: TreeView,
  text: string,
  { start, end }: Section,
  { by, find, isLast }: RangeOptions,
): AsyncGenerator<Batch> {
  let [, from, fromId] = start?.[0] === by ? start : [by, text, firstId];
  const [, to, toId] = end?.[0] === by ? end : [by, endOfBeginnings(text), firstId];
  for (;;) {
    const candidates = await reader.all(find, { from, fromId, to, toId, limit: batchSize });
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
