/** Texts as they are compared in search and filters: without case, accents and the ways to write the same letter. */

export function foldText(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/\p{Mn}+/gu, '')
      // There and back: "Straße" is found by "strasse". Down first: of "ẞ" alone there is nothing to go up to.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replaceAll('ς', 'σ')
      .normalize('NFC')
  );
}

/** Keeps an index entry below PostgreSQL's limit of 2,704 bytes. Only texts of letters that fold to many are cut. */
const maxStoredBytes = 2_048;

/** As it is kept, for search to find. */
export function foldForStorage(text: string): string {
  const folded = foldText(text);
  if (Buffer.byteLength(folded) <= maxStoredBytes) return folded;
  const { read } = new TextEncoder().encodeInto(folded, new Uint8Array(maxStoredBytes));
  return folded.slice(0, read);
}
/**
 * The bytes by which siblings are ordered, the same on every database: "Floor 2" before "Floor 10", letters without
 * regard to case and accents first, and only then with them. Compared byte by byte; a collation never has a say.
 */
/** Keeps an index entry well below PostgreSQL's limit of 2,704 bytes; equal keys are ordered by id. */
const maxKeyBytes = 1024;

export function sortKey(name: string): Uint8Array {
  const letters = name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]+/g, '')
    .normalize('NFC')
    .toLowerCase();
  const primary = letters.replace(/\d+/g, orderedNumber);
  // No name holds a control character, so the separator sorts before whatever a longer name goes on with.
  const key = Buffer.from(primary === name ? primary : `${primary}\0${name}`);
  return key.subarray(0, maxKeyBytes);
}
/** Ahead of the digits stands how many there are: a longer number is a greater one. Leading zeros do not count. */
function orderedNumber(digits: string): string {
  const significant = digits.replace(/^0+(?=\d)/, '');
  // "0" keeps numbers where digits stand among other characters; lengths up to 255 are one two-byte character or less.
  return `0${String.fromCharCode(significant.length)}${significant}`;
}
