/**
 * Search over names and titles. An index preselects; what matches and how well is decided here, so that the order is
 * the same on every database. Read in small portions, so that a search with many matches does not hold up others.
 */

import { accessLevels } from '../access/access-level.ts';
import { nobodysId } from '../database/row-id.ts';
import { possibleMatches, sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import type { Place } from './cursor.ts';
import { foldText } from './folded-text.ts';
import { readFolders, visibleLevel, type Folder, type TreeView } from './folders.ts';

export interface SearchSlice {
  readonly text: string;
  /** Only inside this folder. */
  readonly underId?: string | undefined;
  readonly first: number;
  readonly after?: Place | undefined;
}

export interface Found {
  readonly folder: Folder;
  readonly place: Place;
}

export interface SearchResult {
  readonly found: readonly Found[];
  /** There are more. */
  readonly isCut: boolean;
  readonly totalCount: number;
}

interface Candidate {
  readonly id: string;
  readonly sortKey: Uint8Array;
  readonly foldedName: string;
  readonly foldedTitle: string | null;
}

const { READ } = accessLevels;
const longestText = 255;
const portion = 1_000;
/** With fewer characters the index is of no use: only beginnings are found. */
const shortestInside = 3;

const candidateColumns = sql`folders.id, folders.sort_key as "sortKey", folders.folded_name as "foldedName",
  folders.folded_title as "foldedTitle"`;

const findInside = sql<{ text: string; after: number; limit: number }, Candidate & { number: number }>`
  select ${candidateColumns}, folders.number
  from ${possibleMatches({ text: 'text', after: 'after', limit: 'limit' })}
  cross join folders where folders.number = possible.number order by folders.number`;

const findOne = sql<{ id: string }, Candidate>`select ${candidateColumns} from folders where id = ${'id'}`;

interface Range {
  readonly from: string;
  readonly fromId: string;
  readonly to: string;
  readonly limit: number;
}

const findByName = sql<Range, Candidate>`
  select ${candidateColumns} from folders
  where (folded_name, id) > (${'from'}, ${'fromId'}) and folded_name < ${'to'}
  order by folded_name, id limit ${'limit'}`;
const findByTitle = sql<Range, Candidate>`
  select ${candidateColumns} from folders
  where folded_title is not null and (folded_title, id) > (${'from'}, ${'fromId'}) and folded_title < ${'to'}
  order by folded_title, id limit ${'limit'}`;

/** The text as it is searched for. */
export function toSearchText(given: string): string {
  // Before any work on it: folding makes some letters eighteen.
  const tooLong = () => new Refusal('BAD_INPUT', `\`text\` has at most ${longestText} characters.`);
  if (given.length > 2 * longestText) throw tooLong();
  const text = foldText(given.trim());
  if (text === '') throw new Refusal('BAD_INPUT', '`text` must not be empty.');
  if ([...text].length > longestText) throw tooLong();
  if (!text.isWellFormed() || /\p{Cc}/u.test(text)) {
    throw new Refusal('BAD_INPUT', '`text` must be well-formed Unicode without control characters.');
  }
  return text;
}

export async function searchFolders(
  view: TreeView,
  { text, underId, first, after }: SearchSlice,
  onRead: (count: number) => void,
): Promise<SearchResult> {
  let best: Place[] = [];
  let totalCount = 0;
  const keepBest = () => {
    best = best.toSorted(comparePlaces).slice(0, first + 1);
  };
  for await (const candidates of portions(view, text)) {
    onRead(candidates.length);
    await view.ancestry.load(candidates.map(({ id }) => id));
    for (const candidate of candidates) {
      const level = visibleLevel(view, candidate.id);
      if (level === undefined || (underId && !isInside(view, candidate.id, underId))) continue;
      // Of a passage only the name is shown, so only the name is found.
      const rank = rankOf(text, candidate.foldedName, level >= READ ? candidate.foldedTitle : null);
      if (rank === undefined) continue;
      totalCount++;
      const place = { id: candidate.id, key: Buffer.concat([Buffer.of(rank), candidate.sortKey]) };
      if (!after || comparePlaces(place, after) > 0) best.push(place);
    }
    if (best.length > 4 * first + portion) keepBest();
    await new Promise(setImmediate);
  }
  keepBest();
  const isCut = best.length > first;
  const shown = best.slice(0, first);
  const folders = await readFolders(
    view,
    shown.map(({ id }) => id),
  );
  const found = shown.flatMap((place) => {
    const folder = folders.get(place.id);
    return folder ? [{ folder, place }] : [];
  });
  return { found, isCut, totalCount };
}

/** Folders that may match, each once. */
async function* portions({ reader, access }: TreeView, text: string): AsyncGenerator<readonly Candidate[]> {
  // Whoever sees nothing else need not wait for what they do not see.
  if (access.seesOnlyRoot) {
    yield await reader.all(findOne, { id: access.rootId });
    return;
  }
  if ([...text].length >= shortestInside) {
    for (let after = 0; ;) {
      const candidates = await reader.all(findInside, { text, after, limit: portion });
      yield candidates;
      if (candidates.length < portion) return;
      after = candidates.at(-1)!.number;
    }
  }
  yield* beginnings(findByName, ({ foldedName }) => foldedName);
  for await (const candidates of beginnings(findByTitle, ({ foldedTitle }) => foldedTitle!)) {
    yield candidates.filter(({ foldedName }) => !foldedName.startsWith(text));
  }

  async function* beginnings(find: typeof findByName, textOf: (candidate: Candidate) => string) {
    const to = endOfBeginnings(text);
    for (let from = text, fromId = nobodysId; ;) {
      const candidates = await reader.all(find, { from, fromId, to, limit: portion });
      yield candidates;
      const last = candidates.at(-1);
      if (!last || candidates.length < portion) return;
      from = textOf(last);
      fromId = last.id;
    }
  }
}

/** The first text, in the order of code points, that comes after all that begin with this one. */
function endOfBeginnings(text: string): string {
  const letters = [...text];
  const last = letters.pop()!.codePointAt(0)!;
  if (last === 0x10ffff) return `${text}\u{10ffff}`;
  return letters.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
}

/** 0 the whole text, 1 its beginning, 2 the beginning of a word, 3 anywhere; undefined if it does not match. */
function rankOf(text: string, name: string, title: string | null): number | undefined {
  const isShort = [...text].length < shortestInside;
  const ranks = [name, title ?? ''].map((target) => {
    if (target === text) return 0;
    if (target.startsWith(text)) return 1;
    if (isShort || !target.includes(text)) return undefined;
    return startsWord(target, text) ? 2 : 3;
  });
  return ranks.reduce((one, other) => (one === undefined || (other ?? 4) < one ? other : one));
}

function startsWord(target: string, text: string): boolean {
  for (let at = target.indexOf(text); at >= 0; at = target.indexOf(text, at + 1)) {
    if (at > 0 && !/[\p{L}\p{N}]$/u.test(target.slice(0, at))) return true;
  }
  return false;
}

function isInside({ ancestry }: TreeView, id: string, underId: string): boolean {
  return id !== underId && (ancestry.wayTo(id)?.includes(underId) ?? false);
}

function comparePlaces(one: Place, other: Place): number {
  return Buffer.compare(one.key, other.key) || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}
