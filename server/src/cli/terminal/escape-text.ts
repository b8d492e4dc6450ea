/** Escapes control characters in texts of other users, so that a terminal does not interpret them. */

import { escapeControls } from '@espalier/contract';

export { escapeControls };

/** Keeps the line ends of the text. */
export function escapeLines(text: string): string {
  return text.split(/\r?\n/).map(escapeControls).join('\n');
}
