/** What a query selects of folders as texts with values in between, where it selects nothing but what stands there. */

import type { FolderText, FolderValue } from '../../folders/folder-text.ts';
import type { PlannedField } from '../compiled/plan.ts';

const values: Readonly<Record<string, FolderValue>> = {
  id: { value: 'id' },
  name: { value: 'name' },
  title: { value: 'title' },
};

/** Undefined if it is none of the kind. */
type TextOf = (field: PlannedField) => FolderText | undefined;

/** An object with the selected fields. */
export function objectText({ selected }: PlannedField, textOf: TextOf): FolderText | undefined {
  const pieces: FolderText[number][] = ['{'];
  for (const [place, field] of selected.entries()) {
    const inside = field.constant === undefined ? textOf(field) : [field.constant];
    if (!inside) return undefined;
    pieces.push(`${place > 0 ? ',' : ''}${JSON.stringify(field.key)}:`, ...inside);
  }
  return [...pieces, '}'];
}

/** A folder; what it selects of those inside it, `listText` knows. */
export function folderText(folder: PlannedField, listText: TextOf): FolderText | undefined {
  return objectText(folder, (field) => {
    if (field.name === 'folders') return listText(field);
    const value = values[field.name];
    return value && [value];
  });
}

/** Each folder of a list, by the field of the list that has them. Undefined, too, if all are the same. */
export function eachText(field: PlannedField, listText: TextOf): FolderText | undefined {
  const each = textOfEach(field, listText);
  return each?.some((piece) => typeof piece === 'object') ? each : undefined;
}

function textOfEach(field: PlannedField, listText: TextOf): FolderText | undefined {
  if (field.name === 'items') return folderText(field, listText);
  if (field.name !== 'edges') return undefined;
  return objectText(field, (inEdge) => (inEdge.name === 'node' ? folderText(inEdge, listText) : undefined));
}
