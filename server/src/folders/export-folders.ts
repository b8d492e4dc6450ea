/** Everything below a folder as a flat list, in the form in which it can be imported elsewhere. */

import { Refusal } from '../refusal.ts';
import { readDescendants, type Descendant } from './descendants.ts';
import type { FolderTexts } from './folder-texts.ts';
import { readTexts, type Folder, type TreeView } from './folders.ts';

export interface ExportedFolder extends FolderTexts {
  /** Below the folder that was exported. */
  readonly path: string;
}

const portion = 2_000;

/** Of what the viewer may only pass through, the name. */
export async function exportFolders(
  view: TreeView,
  top: Folder,
  { depth, most }: { depth: number | undefined; most: number },
): Promise<ExportedFolder[]> {
  const { found, isTooMuch } = await readDescendants(view, top, { depth }, most);
  if (isTooMuch) {
    throw new Refusal(
      'TOO_EXPENSIVE',
      `The folder has more than ${most} folders inside. Export in parts: what is inside of it one by one, or with a \`depth\`.`,
      { facts: { field: 'exportFolders', price: most + 1, budget: most } },
    );
  }
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
      const path = each.above ? `${paths.get(each.above)}/${name}` : name;
      paths.set(each, path);
      exported.push({ path, title, ...texts.get(id)! });
    }
    await new Promise(setImmediate);
  }
  return exported;
}
