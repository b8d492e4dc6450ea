/**
 * The text of a search: a text in the name or title of a folder, words on its path, the path itself, or its id. Words match
 * only the names and titles of ancestors that the viewer sees.
 */

import { accessLevels } from '../../access/access.ts';
import { whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { readInBatches } from '../../database/database.ts';
import { isRowId, list, sql } from '../../database/statement.ts';
import { Refusal } from '../../refusal.ts';
import { maxTreeDepth } from '../change-rules.ts';
import { foldText } from '../folder-texts.ts';
import { readFolder, readFolderByPath, visibleLevel, type Folder, type TreeView } from '../tree-view.ts';
import { isInsideText } from './search-candidates.ts';

export interface SearchQuery {
  /** The folded text. */
  readonly text: string;
  /** The end of the text, which the folder itself must match: the last word, or several words if the last one is short. */
  readonly ownText: string;
  /** The words before `ownText`. The folder or one of its ancestors must match each word. Empty if only the whole text can match. */
  readonly words: readonly string[];
  readonly id: string | undefined;
  /** The names below the root. */
  readonly path: readonly string[] | undefined;
}

const { READ } = accessLevels;
/** The maximum length of a folded text, in code points. */
export const maxTextLength = 255;
const maxPathLength = 4_096;
/** Each word is a bit in a number that shows which words an ancestor matches. */
const maxWords = 30;
/** Keeps the memory of a search small. */
const maxCachedAncestors = 50_000;

/** Refuses an invalid text. */
export function toSearchQuery(input: string): SearchQuery {
  const trimmed = input.trim();
  const isPath = trimmed.includes('/');
  const maxLength = isPath ? maxPathLength : maxTextLength;
  // Rejects long input before any work: folding turns some characters into eighteen.
  const tooLong = () =>
    new Refusal(
      'BAD_INPUT',
      `\`text\` has at most ${maxTextLength} characters, or ${maxPathLength} for a path.`,
    );
  if (input.length > 2 * maxLength) throw tooLong();
  const text = foldText(trimmed);
  if (text === '') throw new Refusal('BAD_INPUT', '`text` must not be empty.');
  if ([...text].length > maxLength) throw tooLong();
  if (!text.isWellFormed() || /\p{Cc}/u.test(text)) {
    throw new Refusal('BAD_INPUT', '`text` must be well-formed Unicode without control characters.');
  }
  const { ownText, words } = splitWords(text);
  const names = trimmed.replace(/^\/|\/$/g, '').split('/');
  return {
    text,
    ownText,
    words,
    id: isRowId(text) ? text : undefined,
    path: isPath && names.length <= maxTreeDepth && !names.includes('') ? names : undefined,
  };
}

/** Slashes separate words, like spaces, so that a part of a path also finds folders. */
function splitWords(text: string): Pick<SearchQuery, 'words'> & { readonly ownText: string } {
  const matches = [...text.matchAll(/[^\s/]+/gu)];
  const last = matches.at(-1);
  for (let index = matches.length - 1; last && index > 0 && index <= maxWords; index--) {
    const ownText = text.slice(matches[index]!.index, last.index + last[0].length);
    if (ownText.includes('/')) break;
    if (!isInsideText(ownText)) continue;
    // No name or title is that long.
    if ([...ownText].length > maxTextLength) break;
    return { ownText, words: [...new Set(matches.slice(0, index).map(([word]) => word))] };
  }
  return { ownText: text, words: [] };
}

/** A short word must begin a word of the text: otherwise it would match nearly every path. */
export function includesWord(text: string | null, word: string): boolean {
  if (text === null || !text.includes(word)) return false;
  return isInsideText(word) || text.startsWith(word) || startsWord(text, word);
}

export function startsWord(target: string, text: string): boolean {
  for (let at = target.indexOf(text); at >= 0; at = target.indexOf(text, at + 1)) {
    // The character before it has at most two code units. A test of all text before it would take quadratic time.
    if (at > 0 && !/[\p{L}\p{N}]$/u.test(target.slice(Math.max(at - 2, 0), at))) return true;
  }
  return false;
}

/** The folder whose id or path is the text, if the viewer sees the folder. */
export function readNamedFolder(
  view: TreeView,
  { id, path }: SearchQuery,
): PromiseOrValue<Folder | undefined> {
  if (id !== undefined) return readFolder(view, id);
  return path && readFolderByPath(view, path);
}

const findTexts = sql<
  { ids: readonly string[] },
  { id: string; foldedName: string; foldedTitle: string | null }
>`
  select id, folded_name as "foldedName", folded_title as "foldedTitle"
  from folders where id in (select value from ${list('ids')})`;

/** The words that the ancestors of folders match. Each ancestor is read once. */
export class AncestorWords {
  readonly #view: TreeView;
  readonly #words: readonly string[];
  /** By the id of the ancestor: a bit for each word that its name or title contains. */
  readonly #wordBits = new Map<string, number>();

  constructor(view: TreeView, words: readonly string[]) {
    this.#view = view;
    this.#words = words;
  }

  /** Must be awaited before `includes`, which must be called before the next `load`. `charge` is called for each ancestor that is read. */
  load(parentIds: readonly (string | null)[], charge: () => void): PromiseOrValue<void> {
    if (this.#wordBits.size > maxCachedAncestors) this.#wordBits.clear();
    const missing = new Set<string>();
    for (const parentId of new Set(parentIds)) {
      for (const id of this.#ancestorIds(parentId)) if (!this.#wordBits.has(id)) missing.add(id);
    }
    const { reader } = this.#view;
    if (missing.size === 0) return;
    const read = (ids: readonly string[]) => {
      ids.forEach(charge);
      return reader.all(findTexts, { ids }, ids.length);
    };
    return whenDone(readInBatches([...missing], read), (rows) => {
      for (const { id, foldedName, foldedTitle } of rows) {
        // A passage shows only its name.
        const title = (visibleLevel(this.#view, id) ?? 0) >= READ ? foldedTitle : null;
        const bits = this.#words.map((word, index) =>
          includesWord(foldedName, word) || includesWord(title, word) ? 2 ** index : 0,
        );
        this.#wordBits.set(
          id,
          bits.reduce((all, bit) => all + bit, 0),
        );
      }
    });
  }

  includes(parentId: string | null, word: string): boolean {
    const bit = 2 ** this.#words.indexOf(word);
    return this.#ancestorIds(parentId).some((id) => ((this.#wordBits.get(id) ?? 0) & bit) !== 0);
  }

  /** Without the root, whose name is not on a path. */
  #ancestorIds(parentId: string | null): readonly string[] {
    return (parentId !== null && this.#view.ancestry.pathTo(parentId)?.slice(1)) || [];
  }
}
