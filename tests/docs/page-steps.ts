/**
 * The steps of a documentation page in order: commands to paste, files to save, URLs to open, keys to press, and
 * expected output. Directives are in the info string of a block, after the language. Readers do not see them.
 * - ```` ```sh ```` is pasted into terminal 1, with `terminal=2` into another one. With `stays` it runs until Ctrl-C.
 * - ```` ```text ```` is the output of the terminal of the last commands; `…` matches any text in a line or, alone, any lines.
 * - ```` ```js file=watch.mjs ```` is saved in the current folder of the last commands.
 * - `<http://127.0.0.1:8080/…>` is opened, and `<!-- Ctrl-C in terminal 1 -->` presses the keys.
 */

export type Step = { readonly line: number } & (
  | { readonly kind: 'run'; readonly terminal: number; readonly text: string; readonly stays: boolean }
  | { readonly kind: 'see'; readonly terminal: number; readonly text: string }
  | { readonly kind: 'save'; readonly file: string; readonly text: string }
  | { readonly kind: 'open'; readonly url: string }
  | { readonly kind: 'press'; readonly terminal: number }
);

/** A fenced block of any page, with the number of its first line. */
export interface Block {
  readonly line: number;
  readonly language: string;
  readonly directives: readonly string[];
  readonly text: string;
}

const fence = /^( *)```(.*)$/;

/** Returns the blocks, and the lines outside blocks with empty lines in place of the blocks. */
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
      const [language = '', ...directives] = open.info.split(' ');
      blocks.push({ line: open.line, language, directives, text: open.lines.join('\n') });
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
  for (const { line, language, directives, text } of blocks) {
    const terminalDirective = directives.find((directive) => directive.startsWith('terminal='));
    const fileDirective = directives.find((directive) => directive.startsWith('file='));
    const unknown = directives.find(
      (directive) => directive !== terminalDirective && directive !== fileDirective && directive !== 'stays',
    );
    if (unknown) throw new Error(`Line ${line}: unknown directive ${unknown}.`);
    if (terminalDirective) terminal = Number(terminalDirective.split('=')[1]);
    else if (language === 'sh') terminal = 1;
    if (fileDirective) steps.push({ kind: 'save', line, file: fileDirective.split('=')[1]!, text });
    else if (language === 'sh')
      steps.push({ kind: 'run', line, terminal, text, stays: directives.includes('stays') });
    else if (language === 'text') steps.push({ kind: 'see', line, terminal, text });
    else throw new Error(`Line ${line}: unknown language ${language || 'of this block'}.`);
  }
  return steps.sort((a, b) => a.line - b.line);
}

function proseSteps(text: string, line: number): Step[] {
  const urlMatches = [...text.matchAll(/<(http:\/\/127\.0\.0\.1[^>]*)>/g)];
  const keyMatches = [...text.matchAll(/<!-- Ctrl-C in terminal (\d) -->/g)];
  return [
    ...urlMatches.map(([, url]): Step => ({ kind: 'open', line, url: url! })),
    ...keyMatches.map(([, terminal]): Step => ({ kind: 'press', line, terminal: Number(terminal) })),
  ];
}
