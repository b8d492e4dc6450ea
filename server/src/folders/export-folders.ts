/** Everything below a folder as a flat list, in the form in which it can be imported elsewhere. */

import type { Database } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { visibleChildCount } from './children.ts';
import { readDescendants, type Descendant } from './descendants.ts';
import type { FolderTexts } from './folder-texts.ts';
import { readTexts, type Folder, type TreeView } from './folders.ts';

export interface ExportedFolder extends FolderTexts {
  /** Below the folder that was exported. */
  readonly path: string;
}

const portion = 2_000;

export interface ExportOptions extends Pick<Database, 'reportDamage'> {
  readonly depth: number | undefined;
  readonly most: number;
}

/** Of what the viewer may only pass through, the name. All of it, or a refusal: somebody may keep it as their only copy. */
export async function exportFolders(
  view: TreeView,
  top: Folder,
  { depth, most, reportDamage }: ExportOptions,
): Promise<ExportedFolder[]> {
  const { found, exceedsMax } = await readDescendants(view, top, { depth }, most);
  if (exceedsMax) {
    throw new Refusal(
      'TOO_EXPENSIVE',
      `The folder has more than ${most} folders inside. Export in parts: what is inside of it one by one, or with a \`depth\`.`,
      { facts: { field: 'exportFolders', price: most + 1, budget: most } },
    );
  }
  const missing = findMissing(view, top, found, depth);
  if (missing !== undefined) throw reportDamage(missing);
  const paths = new Map<Descendant, string>();
  const exported: ExportedFolder[] = [];
  for (let start = 0; start < found.length; start += portion) {
    const some = found.slice(start, start + portion);
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

/** A damaged page that reads as an empty one is no error to the database: the stored counts of children tell. */
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
