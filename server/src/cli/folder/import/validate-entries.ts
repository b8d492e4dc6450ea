/** Checks an import before it is sent, with the rules of the server. The server checks it again. */

import { toFolderName, toTexts } from '../../../folders/folder-texts.ts';
import { Refusal } from '../../../refusal.ts';
import { StartError } from '../../../config/start-error.ts';
import { count } from '../../terminal/progress.ts';
import { escapeControls } from '../../terminal/escape-text.ts';
import type { Entry } from './import-call.ts';

const maxListed = 10;

/** Returns the number of folders to create, including missing parents. Throws the first problem. */
export function checkEntries(entries: readonly Entry[]): number {
  const seen = new Set<string>();
  const made = new Set<string>();
  const problems: string[] = [];
  let wrong = 0;
  for (const entry of entries) {
    const problem = problemOf(entry, seen, made);
    if (problem === undefined) continue;
    wrong++;
    if (problems.length < maxListed) problems.push(`  ${formatPath(entry.path)}: ${problem}`);
  }
  if (wrong === 0) return made.size;
  const rest = wrong > maxListed ? [`  and ${count(wrong - maxListed)} more`] : [];
  throw new StartError(
    [
      `Nothing was imported, because ${wrong === 1 ? 'one folder is' : `${count(wrong)} folders are`} invalid:`,
      ...problems,
      ...rest,
    ].join('\n'),
  );
}

function problemOf(entry: Entry, seen: Set<string>, made: Set<string>): string | undefined {
  try {
    const names = namesIn(entry.path).map(toFolderName);
    toTexts(entry);
    const path = names.join('/');
    if (seen.has(path)) return 'It appears twice.';
    seen.add(path);
    // Up to the last known parent.
    for (
      let ancestor = path;
      ancestor !== '' && !made.has(ancestor);
      ancestor = ancestor.slice(0, Math.max(0, ancestor.lastIndexOf('/')))
    ) {
      made.add(ancestor);
    }
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/** Ignores a slash at either end, like the server. */
function namesIn(path: string): string[] {
  return path.replace(/^\/|\/$/g, '').split('/');
}

function formatPath(path: string): string {
  return escapeControls(path.length > 200 ? `${path.slice(0, 200)}…` : path) || '(an empty path)';
}
