/** Where a text holds what was searched for, as the server compares: without regard to case and accents. */

export interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

export function piecesOf(text: string, sought: string): readonly Piece[] {
  const wanted = plainText(sought.trim());
  const letters = [...text.normalize('NFC')];
  const plain = letters.map(plainText);
  const start = wanted === '' ? -1 : plain.join('').indexOf(wanted);
  if (start < 0) return [{ text, isMatch: false }];
  let [at, first, last] = [0, -1, -1];
  plain.forEach((letter, index) => {
    if (first < 0 && at + letter.length > start) first = index;
    if (at < start + wanted.length) last = index;
    at += letter.length;
  });
  const pieces: Piece[] = [
    { text: letters.slice(0, first).join(''), isMatch: false },
    { text: letters.slice(first, last + 1).join(''), isMatch: true },
    { text: letters.slice(last + 1).join(''), isMatch: false },
  ];
  return pieces.filter((piece) => piece.text !== '');
}

export function plainText(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]+/g, '')
    .toLowerCase();
}
