/** Finds the searched text in a name or path as the server does: without regard to case and accents. */

interface TextPart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Splits a text into matching and other parts. Looks for the whole searched text, and if that is not found, for each of its words. */
export function splitMatch(text: string, searchText: string): readonly TextPart[] {
  const letters = [...text.normalize('NFC')];
  const plain = letters.map(plainText);
  const ranges = findMatches(plain.join(''), plainText(searchText.trim()));
  if (ranges.length === 0) return [{ text, isMatch: false }];
  const parts: { text: string; isMatch: boolean }[] = [];
  let offset = 0;
  plain.forEach((letter, index) => {
    const end = offset + letter.length;
    const isMatch = ranges.some(([from, until]) => offset < until && end > from);
    const last = parts.at(-1);
    if (last?.isMatch === isMatch) last.text += letters[index];
    else parts.push({ text: letters[index]!, isMatch });
    offset = end;
  });
  return parts;
}

function findMatches(
  plain: string,
  plainSearch: string,
): readonly (readonly [from: number, until: number])[] {
  const words = plain.includes(plainSearch) ? [plainSearch] : plainSearch.split(/[\s/]+/);
  return words
    .map((word) => [plain.indexOf(word), word.length] as const)
    .filter(([from, length]) => from >= 0 && length > 0)
    .map(([from, length]) => [from, from + length] as const);
}

/** Removes accents and case. */
export function plainText(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]+/g, '')
    .toLowerCase();
}
