/**
 * Search over names and titles. The candidates are compared and ranked here, so that the order is the same on every
 * database. A page examines a bounded number of folders that do not match: hidden folders must not show in time, cost or
 * refusals.
 */

import { accessLevels } from '../../access/access.ts';
import { Refusal } from '../../refusal.ts';
import { decodeCursor, encodeCursor } from '../../database/cursor-encoding.ts';
import type { Reader } from '../../database/database.ts';
import {
  notACursor,
  decryptPosition,
  positionBytes,
  encryptPosition,
  toPosition,
  type ListPosition,
} from '../folder-slice.ts';
import { foldText } from '../folder-texts.ts';
import { readFolders, visibleLevel, type Folder, type FolderColumns, type TreeView } from '../tree-view.ts';
import {
  batchSize,
  isInside,
  isInsideText,
  readCandidates,
  type Candidate,
  type Section,
} from './search-candidates.ts';

interface SearchPosition {
  readonly section: Section;
  /** After this match of the section; from the best one if undefined. */
  readonly position?: ListPosition | undefined;
}

interface SearchSlice {
  readonly text: string;
  /** Only inside this folder. */
  readonly underId?: string | undefined;
  readonly first: number;
  readonly after?: SearchPosition | undefined;
  /** `withoutTexts` by default. */
  readonly columns?: FolderColumns | undefined;
}

interface Found {
  readonly folder: Folder;
  readonly cursor: () => string;
}

interface SearchResult {
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
const maxUnseen = 500;
const wholeSearch: Section = { countBefore: 0 };

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

interface Matches {
  /** The best matches, and possibly one more than the page holds. */
  readonly best: readonly Match[];
  readonly totalCount: number;
  /** Where the section ends; undefined if it holds all candidates. */
  readonly end: Section['end'];
}

async function findMatches(
  view: TreeView,
  { text, underId, first }: SearchSlice,
  { section, position }: SearchPosition,
  charge: () => void,
): Promise<Matches> {
  const last = position && toMatch(position);
  let best: Match[] = [];
  let totalCount = section.countBefore;
  let unseen = 0;
  let { end } = section;
  const keepBest = () => {
    best = best.toSorted(compareMatches).slice(0, first + 1);
  };
  for await (const batch of readCandidates(view, text, section, underId)) {
    const parentIds = new Set(batch.candidates.map(({ parentId }) => parentId));
    await view.ancestry.load([...parentIds].filter((id) => id !== null));
    // Only after the ancestors are loaded: other fields run meanwhile and must not find a folder without its ancestors.
    for (const { id, parentId } of batch.candidates) view.ancestry.setParent(id, parentId);
    for (const candidate of batch.candidates) {
      const match = matchOf(view, text, candidate);
      if (match || view.access.isAdministrator) charge();
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
  return { best, totalCount, end };
}

/** `charge` is called for each match that the viewer sees, and may refuse to continue. */
export async function searchFolders(
  view: TreeView,
  slice: SearchSlice,
  charge: () => void,
): Promise<SearchResult> {
  const { text, underId, first, after = { section: wholeSearch }, columns } = slice;
  const { reader } = view;
  const { section } = after;
  const { best, totalCount, end } = await findMatches(view, slice, after, charge);
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
    next !== undefined && index === page.length - 1 ? next : cursorOf(page[index]);
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

/** The rank of a candidate; undefined if the viewer does not see it, or sees no text that matches. */
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

function toMatch({ id, key }: ListPosition): Match {
  return { id, rank: key[0] ?? 0, sortKey: Buffer.from(key.subarray(1)).toString('hex').toUpperCase() };
}

const lengthBytes = 2;
/** Sections are padded to a multiple of this, so that their size does not reveal the length of the names in them. */
const paddedBytes = 1024;

/** Returns the function that makes the cursors of one section. */
async function searchCursors(
  reader: Reader,
  list: string,
  section: Section,
): Promise<(match?: Match) => string> {
  const isWhole = section.start === undefined && section.end === undefined;
  const text = Buffer.from(JSON.stringify(section));
  const padding = Buffer.alloc(paddedBytes - (text.length % paddedBytes), ' ');
  const encrypted = isWhole
    ? Buffer.alloc(0)
    : await encryptPosition(reader, list, Buffer.concat([text, padding]));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16BE(encrypted.length);
  return (match) => {
    const parts = [length, encrypted];
    if (match) {
      const key = Buffer.concat([Buffer.of(match.rank), Buffer.from(match.sortKey, 'hex')]);
      parts.push(positionBytes({ id: match.id, key }));
    }
    return encodeCursor(list, Buffer.concat(parts));
  };
}

export async function readSearchCursor(
  reader: Reader,
  list: string,
  cursor: string,
  argument: string,
): Promise<SearchPosition> {
  const bytes = decodeCursor(list, cursor);
  if (!bytes || bytes.length < lengthBytes) throw notACursor(argument);
  const encryptedEnd = lengthBytes + bytes.readUInt16BE(0);
  if (encryptedEnd > bytes.length) throw notACursor(argument);
  const position =
    encryptedEnd === bytes.length ? undefined : toPosition(bytes.subarray(encryptedEnd), argument);
  if (encryptedEnd === lengthBytes) return { section: wholeSearch, position };
  const section = await decryptPosition(reader, list, bytes.subarray(lengthBytes, encryptedEnd));
  if (!section) throw notACursor(argument);
  return { section: JSON.parse(section.toString()) as Section, position };
}
