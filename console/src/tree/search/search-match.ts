/** Finds the searched text in a name as the server does: without regard to case and accents. */

interface TextPart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Splits a text into the parts before, inside and after the match. */
export function splitMatch(text: string, searchText: string): readonly TextPart[] {
  const plainSearch = plainText(searchText.trim());
  const letters = [...text.normalize('NFC')];
  const plain = letters.map(plainText);
  const start = plainSearch === '' ? -1 : plain.join('').indexOf(plainSearch);
  if (start < 0) return [{ text, isMatch: false }];
  let [offset, first, last] = [0, -1, -1];
  plain.forEach((letter, index) => {
    if (first < 0 && offset + letter.length > start) first = index;
    if (offset < start + plainSearch.length) last = index;
    offset += letter.length;
  });
  const parts: TextPart[] = [
    { text: letters.slice(0, first).join(''), isMatch: false },
    { text: letters.slice(first, last + 1).join(''), isMatch: true },
    { text: letters.slice(last + 1).join(''), isMatch: false },
  ];
  return parts.filter((part) => part.text !== '');
}

/** Removes accents and case. */
export function plainText(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]+/g, '')
    .toLowerCase();
}
