/** Compares terminal output with a page: `…` matches any text within a line or, alone, any number of lines. */

export function matchesOutput(expected: string, output: string): boolean {
  const lines = expected.split('\n').map((line) => {
    if (line.trim() === '…') return '(?:.*\\n)*?';
    return `${line.split('…').map(escapePattern).join('.+?')}[ \\t]*\\n`;
  });
  return new RegExp(`^${lines.join('')}$`).test(`${output.trim()}\n`);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
