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
const mostStoredBytes = 2_048;

/** As it is kept, for search to find. */
export function foldStored(text: string): string {
  const folded = foldText(text);
  if (Buffer.byteLength(folded) <= mostStoredBytes) return folded;
  const { read } = new TextEncoder().encodeInto(folded, new Uint8Array(mostStoredBytes));
  return folded.slice(0, read);
}
