/** Siblings in the order of the server: by the very keys by which it sorts them, and among equal ones by id. */

/** As the server cuts its keys. */
const longestKeyBytes = 1_024;

interface Named {
  readonly id: string;
  readonly name: string;
}

export function inNaturalOrder<Folder extends Named>(folders: Iterable<Folder>): Folder[] {
  return Array.from(folders, (folder) => ({ folder, key: sortKey(folder.name) }))
    .sort((one, other) => compare(one.key, other.key) || compare(one.folder.id, other.folder.id))
    .map(({ folder }) => folder);
}

/**
 * Which of two siblings comes first, for `sort`. As the server has them in its lists.
 *
 * @example
 * folders.sort(compareSiblings); // "Floor 2" before "Floor 10"
 */
export function compareSiblings(one: Named, other: Named): number {
  return compare(sortKey(one.name), sortKey(other.name)) || compare(one.id, other.id);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Letters without regard to case and accents, numbers by how long they are, and then the name itself; as bytes. */
function sortKey(name: string): string {
  const primary = name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]+/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/0*(\d+)/g, (_, digits: string) => `0${String.fromCharCode(digits.length)}${digits}`);
  const bytes = new TextEncoder().encode(primary === name ? name : `${primary}\0${name}`);
  return String.fromCharCode(...bytes.subarray(0, longestKeyBytes));
}
