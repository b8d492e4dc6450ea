/** Texts as they are compared in search and filters: without case, accents and the ways to write the same letter. */

export function foldText(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/\p{Mn}+/gu, '')
      // There and back: "Straße" is found by "strasse".
      .toUpperCase()
      .toLowerCase()
      .replaceAll('ς', 'σ')
      .normalize('NFC')
  );
}
