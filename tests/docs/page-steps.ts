/**
 * What a page of the documentation has its reader do, in order: commands to paste, files to save, addresses to open, keys to
 * press, and what is then seen. The marks are in the info string of a block, after the language, where nobody reads them.
 *
 * - ```` ```sh ```` is pasted into terminal 1, with `terminal=2` into another; with `stays` it goes on until Ctrl-C.
 * - ```` ```text ```` is what that terminal shows; `…` is what varies, in a line or, alone in it, over lines.
 * - ```` ```js file=watch.mjs ```` is saved where the last commands were.
 * - `<http://127.0.0.1:8080/…>` is opened, and `<!-- Ctrl-C in terminal 1 -->` is pressed.
 */

export type Step = { readonly line: number } & (
  | { readonly kind: 'run'; readonly terminal: number; readonly text: string; readonly stays: boolean }
  | { readonly kind: 'see'; readonly terminal: number; readonly text: string }
  | { readonly kind: 'save'; readonly file: string; readonly text: string }
  | { readonly kind: 'open'; readonly url: string }
  | { readonly kind: 'press'; readonly terminal: number }
);

/** Of a page without marks, too: every fenced block, with the line on which it begins. */
export interface Block {
  readonly line: number;
  readonly language: string;
  readonly marks: readonly string[];
  readonly text: string;
}

const fence = /^( *)```(.*)$/;

/** Of the lines outside of blocks, those that were there, and empty ones in place of the others. */
export function readPage(page: string): { blocks: Block[]; prose: string[] } {
  const blocks: Block[] = [];
  const prose: string[] = [];
  let open: { line: number; indent: number; info: string; lines: string[] } | undefined;
  for (const [index, line] of page.split('\n').entries()) {
    const [, indent = '', info = ''] = fence.exec(line) ?? [];
    const isFence = fence.test(line);
    prose.push(open || isFence ? '' : line);
    if (!open && isFence) {
      open = { line: index + 1, indent: indent.length, info, lines: [] };
    } else if (open && isFence) {
      const [language = '', ...marks] = open.info.split(' ');
      blocks.push({ line: open.line, language, marks, text: open.lines.join('\n') });
      open = undefined;
    } else open?.lines.push(line.slice(open.indent));
  }
  if (open) throw new Error(`The block of line ${open.line} has no end.`);
  return { blocks, prose };
}

export function stepsOf(page: string): Step[] {
  const { blocks, prose } = readPage(page);
  const steps: Step[] = prose.flatMap((text, index) => proseSteps(text, index + 1));
  let terminal = 1;
  for (const { line, language, marks, text } of blocks) {
    const named = marks.find((mark) => mark.startsWith('terminal='));
    const file = marks.find((mark) => mark.startsWith('file='));
    const unknown = marks.find((mark) => mark !== named && mark !== file && mark !== 'stays');
    if (unknown) throw new Error(`Line ${line}: nobody knows the mark ${unknown}.`);
    if (named) terminal = Number(named.split('=')[1]);
    else if (language === 'sh') terminal = 1;
    if (file) steps.push({ kind: 'save', line, file: file.split('=')[1]!, text });
    else if (language === 'sh')
      steps.push({ kind: 'run', line, terminal, text, stays: marks.includes('stays') });
    else if (language === 'text') steps.push({ kind: 'see', line, terminal, text });
    else throw new Error(`Line ${line}: it is not said what to do with ${language || 'this block'}.`);
  }
  return steps.sort((a, b) => a.line - b.line);
}

function proseSteps(text: string, line: number): Step[] {
  const opened = [...text.matchAll(/<(http:\/\/127\.0\.0\.1[^>]*)>/g)];
  const pressed = [...text.matchAll(/<!-- Ctrl-C in terminal (\d) -->/g)];
  return [
    ...opened.map(([, url]): Step => ({ kind: 'open', line, url: url! })),
    ...pressed.map(([, terminal]): Step => ({ kind: 'press', line, terminal: Number(terminal) })),
  ];
}
