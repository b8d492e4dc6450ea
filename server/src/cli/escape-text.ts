/** Texts of others on a terminal, which shows them and does not obey them. */

import { escapeControls } from '@espalier/contract';

export { escapeControls };

/** Over several lines, where the text has them. */
export function escapeLines(text: string): string {
  return text.split(/\r?\n/).map(escapeControls).join('\n');
}
