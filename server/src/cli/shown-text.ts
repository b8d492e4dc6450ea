/** Texts of others on a terminal, which shows them and does not obey them. */

import { shown } from '@espalier/contract';

export { shown };

/** Over several lines, where the text has them. */
export function shownLines(text: string): string {
  return text.split(/\r?\n/).map(shown).join('\n');
}
