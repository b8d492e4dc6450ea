/** Exports everything below a folder as a flat list that can be imported elsewhere. */

import type { Database } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { visibleChildCount } from './children/children.ts';
import { readDescendants, type Descendant } from './children/descendants.ts';
import type { FolderTexts } from './folder-texts.ts';
import { readTexts, type Folder, type TreeView } from './tree-view.ts';

export interface ExportedFolder extends FolderTexts {
  /** The path below the exported folder. */
  readonly path: string;
}

const batchSize = 2_000;

export interface ExportOptions extends Pick<Database, 'reportDamage'> {
  readonly depth: number | undefined;
  readonly maxFolders: number;
}

/** Returns all folders or refuses, because the export may become the only copy. Passages have only a name. */
export async function exportFolders(
  view: TreeView,
  top: Folder,
  { depth, maxFolders, reportDamage }: ExportOptions,
): Promise<ExportedFolder[]> {
  const { found, exceedsMax } = await readDescendants(view, top, { depth }, maxFolders);
  if (exceedsMax) {
    throw new Refusal(
      'TOO_EXPENSIVE',
      `The folder contains more than ${maxFolders} folders. Export its sub-folders one by one, or set a smaller \`depth\`.`,
      { facts: { field: 'exportFolders', price: maxFolders + 1, budget: maxFolders } },
    );
  }
  const missing = findMissing(view, top, found, depth);
  if (missing !== undefined) throw reportDamage(missing);
  const paths = new Map<Descendant, string>();
  const exported: ExportedFolder[] = [];
  for (let start = 0; start < found.length; start += batchSize) {
    const some = found.slice(start, start + batchSize);
    const texts = await readTexts(
      view,
      some.map(({ folder }) => folder),
    );
    for (const each of some) {
      const { name, id, title } = each.folder;
      const own = texts.get(id);
      if (!own) throw reportDamage(`the folder ${id} has no row`);
      const path = each.above ? `${paths.get(each.above)}/${name}` : name;
      paths.set(each, path);
      exported.push({ path, title, ...own });
    }
  }
  return exported;
}

/** The database reports no error for a damaged page that reads as empty. So the stored counts of children are compared. */
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
      return `the folder ${folder.id} has ${expected} sub-folders by its own count, and ${listed} are found`;
  }
  return undefined;
}
