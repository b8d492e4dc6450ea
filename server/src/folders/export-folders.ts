/**
 * Reads all folders below a folder with their texts, to copy them or to export them as a flat list for an import elsewhere.
 */

import type { Database } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { visibleChildCount } from './children/children.ts';
import { readDescendants, type Descendant } from './children/descendants.ts';
import type { FolderTexts } from './folder-texts.ts';
import { readTexts, type Folder, type LongTexts, type TreeView } from './tree-view.ts';

export interface ExportedFolder extends FolderTexts {
  /** The path below the exported folder. */
  readonly path: string;
}

const batchSize = 2_000;

export interface ExportOptions extends Pick<Database, 'reportDamage'> {
  readonly depth: number | undefined;
  readonly maxFolders: number;
}

/** Exports only the names of passages. */
export async function exportFolders(
  view: TreeView,
  top: Folder,
  { depth, maxFolders, reportDamage }: ExportOptions,
): Promise<ExportedFolder[]> {
  const tooManyFolders = () =>
    new Refusal(
      'TOO_EXPENSIVE',
      `The folder contains more than ${maxFolders} folders. Export its subfolders one by one, or set a smaller \`depth\`.`,
      { facts: { field: 'exportFolders', cost: maxFolders + 1, limit: maxFolders } },
    );
  const paths = new Map<Descendant, string>();
  const exportedFolders: ExportedFolder[] = [];
  for await (const some of readSubtree(view, top, { depth, maxFolders, tooManyFolders, reportDamage })) {
    for (const { descendant, texts } of some) {
      const { above, folder } = descendant;
      const path = above ? `${paths.get(above)}/${folder.name}` : folder.name;
      paths.set(descendant, path);
      exportedFolders.push({ path, title: folder.title, ...texts });
    }
  }
  return exportedFolders;
}

interface SubtreeOptions extends Pick<Database, 'reportDamage'> {
  readonly depth?: number | undefined;
  readonly maxFolders: number;
  readonly tooManyFolders: () => Refusal;
}

interface FolderWithTexts {
  readonly descendant: Descendant;
  readonly texts: LongTexts;
}

/**
 * Returns all folders inside a folder, parents before their children. Never returns an incomplete result, because it may become the
 * only copy.
 */
export async function* readSubtree(
  view: TreeView,
  top: Folder,
  { depth, maxFolders, tooManyFolders, reportDamage }: SubtreeOptions,
): AsyncGenerator<readonly FolderWithTexts[], void> {
  const { found, exceedsMax } = await readDescendants(view, top, { depth }, maxFolders);
  if (exceedsMax) throw tooManyFolders();
  const damage = findMissing(view, top, found, depth);
  if (damage !== undefined) throw reportDamage(damage);
  for (let start = 0; start < found.length; start += batchSize) {
    const some = found.slice(start, start + batchSize);
    const read = await readTexts(
      view,
      some.map(({ folder }) => folder),
    );
    yield some.map((descendant) => {
      const { id } = descendant.folder;
      const texts = read.get(id);
      if (!texts) throw reportDamage(`the folder ${id} has no row`);
      return { descendant, texts };
    });
  }
}

/**
 * If the database reads a damaged page as empty, it reports no error. So this compares the stored counts of children with the
 * folders that were found.
 */
function findMissing(
  view: TreeView,
  top: Folder,
  found: readonly Descendant[],
  depth = Infinity,
): string | undefined {
  const counts = new Map<Descendant | undefined, number>();
  for (const { above } of found) counts.set(above, (counts.get(above) ?? 0) + 1);
  const expanded = found.filter((each) => each.depth < depth);
  for (const [each, folder] of [
    [undefined, top] as const,
    ...expanded.map((one) => [one, one.folder] as const),
  ]) {
    const [expected, listed] = [visibleChildCount(view, folder), counts.get(each) ?? 0];
    if (listed !== expected)
      return `the folder ${folder.id} has ${expected} subfolders according to its stored count, but ${listed} were found`;
  }
  return undefined;
}
