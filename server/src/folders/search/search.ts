/**
 * Search over names and titles. The candidates are compared and ranked here, so that the order is the same on every
 * database. A page examines a bounded number of folders in vain: hidden folders must not show in time, cost or refusals.
 */

import { accessLevels } from '../../access/access.ts';
import { Refusal } from '../../refusal.ts';
import { searchCursors, wholeSearch, type ListPosition, type SearchPosition } from '../cursor.ts';
import { foldText } from '../text-keys.ts';
import type { FolderColumns } from '../children/folder-slice.ts';
import { readFolders, visibleLevel, type Folder, type TreeView } from '../folders.ts';
import { batchSize, isInside, isInsideText, readCandidates, type Candidate } from './search-candidates.ts';

export interface SearchSlice {
  readonly text: string;
  /** Only inside this folder. */
  readonly underId?: string | undefined;
  readonly first: number;
  readonly after?: SearchPosition | undefined;
  /** `all` by default. */
  readonly columns?: FolderColumns | undefined;
}

export interface Found {
  readonly folder: Folder;
  readonly cursor: () => string;
}

export interface SearchResult {
  readonly found: readonly Found[];
  readonly hasNextPage: boolean;
  /** Where the next page begins; null if there was nothing to examine. */
  readonly endCursor: () => string | null;
  /** If the page was cut short, the matches in all that was examined so far. */
  readonly totalCount: number;
}

const { READ } = accessLevels;
const maxTextLength = 255;
/** A page ends after the batch in which it has examined so many folders that the viewer does not find. */
export const maxUnseen = 500;

/** Returns the folded text that is compared. */
export function toSearchText(input: string): string {
  // Rejects long input before any work: folding turns some characters into eighteen.
  const tooLong = () => new Refusal('BAD_INPUT', `\`text\` has at most ${maxTextLength} characters.`);
  if (input.length > 2 * maxTextLength) throw tooLong();
  const text = foldText(input.trim());
  if (text === '') throw new Refusal('BAD_INPUT', '`text` must not be empty.');
  if ([...text].length > maxTextLength) throw tooLong();
  if (!text.isWellFormed() || /\p{Cc}/u.test(text)) {
    throw new Refusal('BAD_INPUT', '`text` must be well-formed Unicode without control characters.');
  }
  return text;
}

/** Names the list of matches among all lists that have cursors. */
export function searchList(text: string, underId: string | undefined): string {
  return `search ${underId ?? ''} ${text}`;
}

/** `charge` is called for each match that the viewer sees, and may refuse to continue. */
export async function searchFolders(
  view: TreeView,
  { text, underId, first, after, columns }: SearchSlice,
  charge: () => void,
): Promise<SearchResult> {
  const { reader, access } = view;
  const { section, position } = after ?? { section: wholeSearch };
  const last = position && toMatch(position);
  let best: Match[] = [];
  let totalCount = section.countBefore;
  let unseen = 0;
  let { end } = section;
  const keepBest = () => {
    best = best.toSorted(compareMatches).slice(0, first + 1);
  };
  for await (const batch of readCandidates(view, text, section, underId)) {
    await view.ancestry.load(parentsOf(batch.candidates));
    // Only after the ancestors are loaded: other fields run meanwhile and must not find a folder without its ancestors.
    for (const { id, parentId } of batch.candidates) view.ancestry.setParent(id, parentId);
    for (const candidate of batch.candidates) {
      const match = matchOf(view, text, candidate);
      if (match || access.isAdministrator) charge();
      else unseen++;
      if (!match || candidate.isRepeated || (underId && !isInside(view, candidate.id, underId))) continue;
      totalCount++;
      if (!last || compareMatches(match, last) > 0) best.push(match);
    }
    if (batch.end && unseen >= maxUnseen) {
      ({ end } = batch);
      break;
    }
    if (best.length > 4 * first + batchSize) keepBest();
  }
  keepBest();
  const hasMore = best.length > first;
  const page = best.slice(0, first);
  const list = searchList(text, underId);
  const cursorOf = await searchCursors(reader, list, { ...section, end });
  // The last match of a section leads on to the next section.
  const next =
    hasMore || !end
      ? undefined
      : (await searchCursors(reader, list, { start: end, countBefore: totalCount }))();
  const cursorAt = (index: number) =>
    next !== undefined && index === page.length - 1 ? next : cursorOf(toPosition(page[index]!));
  const folders = await readFolders(
    view,
    page.map(({ id }) => id),
    columns,
  );
  return {
    found: page.flatMap(({ id }, index) => {
      const folder = folders.get(id);
      return folder ? [{ folder, cursor: () => cursorAt(index) }] : [];
    }),
    hasNextPage: hasMore || next !== undefined,
    endCursor: () => (page.length > 0 ? cursorAt(page.length - 1) : (next ?? null)),
    totalCount,
  };
}

interface Match extends Pick<Candidate, 'id' | 'sortKey'> {
  /** See `rankOf`. */
  readonly rank: number;
}

/** The ids of the candidates' parents, without repetitions: most matches of a search share a few parents. */
function parentsOf(candidates: readonly Candidate[]): readonly string[] {
  const parents = new Set<string>();
  for (const { parentId } of candidates) if (parentId !== null) parents.add(parentId);
  return [...parents];
}

/** Where a candidate ranks; undefined if the viewer does not see it, or sees no text that matches. */
function matchOf(
  view: TreeView,
  text: string,
  { id, sortKey, foldedName, foldedTitle }: Candidate,
): Match | undefined {
  // First, because it is the cheaper check.
  if (!foldedName.includes(text) && !foldedTitle?.includes(text)) return undefined;
  const level = visibleLevel(view, id);
  if (level === undefined) return undefined;
  // A passage shows only its name.
  const rank = rankOf(text, foldedName, level >= READ ? foldedTitle : null);
  return rank === undefined ? undefined : { id, rank, sortKey };
}

/** 0 the whole text, 1 its beginning, 2 the beginning of a word, 3 anywhere; undefined if it does not match. */
function rankOf(text: string, name: string, title: string | null): number | undefined {
  const isShort = !isInsideText(text);
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

function compareMatches(one: Match, other: Match): number {
  return one.rank - other.rank || compareTexts(one.sortKey, other.sortKey) || compareTexts(one.id, other.id);
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function toPosition({ id, rank, sortKey }: Match): ListPosition {
  return { id, key: Buffer.concat([Buffer.of(rank), Buffer.from(sortKey, 'hex')]) };
}

function toMatch({ id, key }: ListPosition): Match {
  return { id, rank: key[0] ?? 0, sortKey: Buffer.from(key.subarray(1)).toString('hex').toUpperCase() };
}
