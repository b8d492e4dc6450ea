/** Texts as they are compared in search and filters: without case, accents and the ways to write the same letter. */

export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mn}+/gu, '')
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .normalize('NFC');
}
