/**
 * Search over names and titles. The candidates are compared and ranked here, so that the order is the same on every database. A
 * page examines a bounded number of folders that do not match: hidden folders must not become apparent from response times, costs
 * or refusals.
 */

import { accessLevels } from '../../access/access.ts';
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
import { sortKey } from '../folder-texts.ts';
import { readFolders, visibleLevel, type Folder, type FolderColumns, type TreeView } from '../tree-view.ts';
import {
  batchSize,
  isInside,
  isInsideText,
  readCandidates,
  type Candidate,
  type Section,
} from './search-candidates.ts';
import {
  AncestorWords,
  includesWord,
  maxTextLength,
  readNamedFolder,
  startsWord,
  type SearchQuery,
} from './search-query.ts';

interface SearchPosition {
  readonly section: Section;
  /** The last match of the previous page. Undefined on the first page of the section. */
  readonly position?: ListPosition | undefined;
}

interface SearchSlice {
  readonly query: SearchQuery;
  /** Only inside this folder. */
  readonly underId?: string | undefined;
  readonly first: number;
  readonly after?: SearchPosition | undefined;
  /** `withoutTexts` by default. */
  readonly columns?: FolderColumns | undefined;
}

interface SearchHit {
  readonly folder: Folder;
  readonly cursor: () => string;
}

interface SearchResult {
  readonly found: readonly SearchHit[];
  readonly hasNextPage: boolean;
  /** The cursor at which the next page begins; null if there was nothing to examine. */
  readonly endCursor: () => string | null;
  /** If the page ends early, the number of matches among the folders that were examined so far. */
  readonly totalCount: () => Promise<number>;
}

const { READ } = accessLevels;
/** A page ends after the batch in which it has examined this many folders without a match that the viewer sees. */
const maxUnseen = 500;
const wholeSearch: Section = { countBefore: 0 };

/** Identifies the list of matches. A cursor is valid only in its own list. */
export function searchList({ text }: SearchQuery, underId: string | undefined): string {
  return `search ${underId ?? ''} ${text}`;
}

/** The matches of one section. */
interface Matches {
  /** If the page ends early, the section ends there. */
  readonly section: Section;
  /** The best matches, and possibly one more than the page holds. */
  readonly best: readonly Match[];
  readonly totalCount: number;
}

async function findMatches(
  view: TreeView,
  { query, underId, first }: SearchSlice,
  { section, position }: SearchPosition,
  charge: () => void,
): Promise<Matches> {
  const last = position && toMatch(position);
  const isListed = (id: string) => underId === undefined || isInside(view, id, underId);
  const namedFolder = await readNamedFolder(view, query);
  const ancestorWords = section.stage ? new AncestorWords(view, query.words) : undefined;
  const candidateText = section.stage ? query.ownText : query.text;
  // No name or title contains the text of a long path.
  const isTooLong = candidateText.length > maxTextLength && [...candidateText].length > maxTextLength;
  let best: Match[] = [];
  let totalCount = section.countBefore;
  const add = (match: Match) => {
    totalCount++;
    if (!last || compareMatches(match, last) > 0) best.push(match);
  };
  if (namedFolder && !section.start && !section.stage && isListed(namedFolder.id)) {
    charge();
    add({ id: namedFolder.id, rank: 0, sortKey: toHex(sortKey(namedFolder.name)) });
  }
  let unseenCount = 0;
  let { end } = section;
  const keepBest = () => {
    best = best.toSorted(compareMatches).slice(0, first + 1);
  };
  for await (const batch of isTooLong ? [] : readCandidates(view, candidateText, section, underId)) {
    const parentIds = new Set(batch.candidates.map(({ parentId }) => parentId));
    await view.ancestry.load([...parentIds].filter((id) => id !== null));
    // Follows the load of the ancestors, because other fields run meanwhile and must not find a folder without its ancestors.
    for (const { id, parentId } of batch.candidates) view.ancestry.setParent(id, parentId);
    const visibleTexts = batch.candidates.map((candidate) => visibleTextsOf(view, candidateText, candidate));
    if (ancestorWords) {
      const isPartial = (_: Candidate, index: number) =>
        visibleTexts[index] !== undefined && missingWords(query, visibleTexts[index]).length > 0;
      const parentIds = batch.candidates.filter(isPartial).map(({ parentId }) => parentId);
      await ancestorWords.load(parentIds, charge);
    }
    for (const [index, candidate] of batch.candidates.entries()) {
      const texts = visibleTexts[index];
      const match = texts && matchOf(query, candidate, texts, ancestorWords);
      if (match || view.access.isAdministrator) charge();
      else unseenCount++;
      const isRepeated = candidate.isRepeated || candidate.id === namedFolder?.id;
      if (!match || match.isRepeated || isRepeated || !isListed(match.id)) continue;
      add(match);
    }
    if (batch.end && unseenCount >= maxUnseen) {
      ({ end } = batch);
      break;
    }
    if (best.length > 4 * first + batchSize) keepBest();
  }
  keepBest();
  return { section: { ...section, end }, best, totalCount };
}

/** `charge` is called for each match that the viewer sees, and may refuse to continue. */
export async function searchFolders(
  view: TreeView,
  slice: SearchSlice,
  charge: () => void,
): Promise<SearchResult> {
  const { query, underId, first, after = { section: wholeSearch }, columns } = slice;
  const found = await findMatches(view, slice, after, charge);
  const hasWordStage = query.words.length > 0 && !after.section.stage && !found.section.end;
  let wordStage: Promise<Matches> | undefined;
  const findWords = () => {
    const section: Section = { stage: 'words', countBefore: found.totalCount };
    const left = Math.max(0, first - found.best.length);
    return (wordStage ??= findMatches(view, { ...slice, first: left }, { section }, charge));
  };
  // A common word may match many folders, so they are examined only if the page is not full without them.
  const stages = [found];
  if (hasWordStage && found.best.length <= first) stages.push(await findWords());
  const page = await toPage(view.reader, searchList(query, underId), stages, first);
  const folders = await readFolders(
    view,
    page.matches.map(({ id }) => id),
    columns,
  );
  return {
    ...page,
    found: page.matches.flatMap(({ id }, index) => {
      const folder = folders.get(id);
      return folder ? [{ folder, cursor: () => page.cursorAt(index) }] : [];
    }),
    totalCount: async () => (hasWordStage ? await findWords() : found).totalCount,
  };
}

interface MatchPage extends Pick<SearchResult, 'hasNextPage' | 'endCursor'> {
  readonly matches: readonly Match[];
  readonly cursorAt: (index: number) => string;
}

async function toPage(
  reader: Reader,
  list: string,
  stages: readonly Matches[],
  first: number,
): Promise<MatchPage> {
  const all = [];
  for (const { section, best } of stages) {
    const cursorOf = await searchCursors(reader, list, section);
    for (const match of best) all.push({ match, cursorOf });
  }
  const hasMore = all.length > first;
  const page = all.slice(0, first);
  const {
    section: { end, stage },
    totalCount,
  } = stages.at(-1)!;
  // The cursor of the last match leads to the next section.
  const next =
    hasMore || !end
      ? undefined
      : (await searchCursors(reader, list, { start: end, countBefore: totalCount, stage }))();
  const cursorAt = (index: number) => {
    if (next !== undefined && index === page.length - 1) return next;
    const { cursorOf, match } = page[index]!;
    return cursorOf(match);
  };
  return {
    matches: page.map(({ match }) => match),
    cursorAt,
    hasNextPage: hasMore || next !== undefined,
    endCursor: () => (page.length > 0 ? cursorAt(page.length - 1) : (next ?? null)),
  };
}

interface Match extends Pick<Candidate, 'id' | 'sortKey'> {
  /** 0 for the folder that the text names; then the ranks of `rankOf` for the whole text, and then those for the end of the text. */
  readonly rank: number;
  /** Whether the stage for the whole text has found it already. */
  readonly isRepeated?: boolean;
}

/** The texts of a candidate that the viewer sees. */
interface VisibleTexts {
  readonly name: string;
  readonly title: string | null;
}

/** Undefined if the viewer does not see the candidate, or if no text of it can match. */
function visibleTextsOf(
  view: TreeView,
  text: string,
  { id, foldedName: name, foldedTitle }: Candidate,
): VisibleTexts | undefined {
  // This check comes first, because it is cheaper.
  if (!name.includes(text) && !foldedTitle?.includes(text)) return undefined;
  const level = visibleLevel(view, id);
  if (level === undefined) return undefined;
  // A passage shows only its name.
  return { name, title: level >= READ ? foldedTitle : null };
}

/** The words that an ancestor has to match. */
function missingWords({ words }: SearchQuery, { name, title }: VisibleTexts): readonly string[] {
  return words.filter((word) => !includesWord(name, word) && !includesWord(title, word));
}

function matchOf(
  query: SearchQuery,
  { id, sortKey: key, parentId }: Candidate,
  texts: VisibleTexts,
  ancestorWords: AncestorWords | undefined,
): Match | undefined {
  const { name, title } = texts;
  const rank = rankOf(query.text, name, title);
  if (rank !== undefined) {
    return { id, rank: 1 + rank, sortKey: key, isRepeated: ancestorWords !== undefined };
  }
  const ownRank = ancestorWords && rankOf(query.ownText, name, title);
  if (ownRank === undefined) return undefined;
  const isFound = missingWords(query, texts).every((word) => ancestorWords!.includes(parentId, word));
  return isFound ? { id, rank: 1 + rankCount + ownRank, sortKey: key } : undefined;
}

const rankCount = 4;

/** 0: equals the text; 1: starts with it; 2: contains a word that starts with it; 3: contains it. Undefined without a match. */
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

function compareMatches(one: Match, other: Match): number {
  return one.rank - other.rank || compareTexts(one.sortKey, other.sortKey) || compareTexts(one.id, other.id);
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function toMatch({ id, key }: ListPosition): Match {
  return { id, rank: key[0] ?? 0, sortKey: toHex(key.subarray(1)) };
}

/** Like `hexOf`. */
function toHex(key: Uint8Array): string {
  return Buffer.from(key).toString('hex').toUpperCase();
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
  const isWhole = !section.start && !section.end && !section.stage;
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
