/** Whether a terminal shows what a page says: `…` is what varies, within a line, or alone in one for any number of lines. */

export function isShown(expected: string, shown: string): boolean {
  const lines = expected.split('\n').map((line) => {
    if (line.trim() === '…') return '(?:.*\\n)*?';
    return `${line.split('…').map(escaped).join('.+?')}[ \\t]*\\n`;
  });
  return new RegExp(`^${lines.join('')}$`).test(`${shown.trim()}\n`);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
