/** Sorts siblings like the server: by the same sort keys, and by id where the keys are equal. */

/** The server truncates its keys at the same length. */
const maxKeyBytes = 1_024;

interface Sortable {
  readonly id: string;
  readonly name: string;
}

export function inNaturalOrder<Folder extends Sortable>(folders: Iterable<Folder>): Folder[] {
  return Array.from(folders, (folder) => ({ folder, key: sortKey(folder.name) }))
    .sort((a, b) => compare(a.key, b.key) || compare(a.folder.id, b.folder.id))
    .map(({ folder }) => folder);
}

/**
 * Compares two siblings in the natural order of the server's lists. Use it with `sort`.
 *
 * @example
 * folders.sort(compareSiblings); // "Floor 2" before "Floor 10"
 */
export function compareSiblings(a: Sortable, b: Sortable): number {
  return compare(sortKey(a.name), sortKey(b.name)) || compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Ignores case and accents and orders numbers by their value; equal names fall back to the exact name. */
function sortKey(name: string): string {
  const primary = name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]+/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/0*(\d+)/g, (_, digits: string) => `0${String.fromCharCode(digits.length)}${digits}`);
  const bytes = new TextEncoder().encode(primary === name ? name : `${primary}\0${name}`);
  return String.fromCharCode(...bytes.subarray(0, maxKeyBytes));
}
