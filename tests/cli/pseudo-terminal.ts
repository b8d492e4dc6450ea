/** Runs the CLI on a pseudo-terminal, which the `script` command of util-linux creates. */

import { spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { program } from '../support/espalier-command.ts';

export interface TerminalResult {
  readonly code: number;
  /** All output, including text that was overwritten later. */
  readonly text: string;
}

export const hasPseudoTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux') ?? false;

export const ctrlC = '\x03';

/** Types a text as soon as the output after the previous step matches. The text can depend on the whole output. */
export type Step = readonly [at: RegExp, typed: string | ((output: string) => string)];

/** A command that runs on a pseudo-terminal. */
export interface RunningTerminal {
  /** All output so far. */
  readonly text: () => string;
  /** Waits until the output after an offset matches. Returns all output. */
  readonly waitFor: (pattern: RegExp, offset?: number) => Promise<string>;
  readonly type: (typed: string) => void;
  readonly end: Promise<TerminalResult>;
}

export function startOnTerminal(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): RunningTerminal {
  const command = [process.execPath, '--conditions=espalier-source', program, ...args]
    .map(quoteForShell)
    .join(' ');
  const terminal = spawn('script', ['-qfec', `stty cols 100; ${command}`, '/dev/null'], {
    env: { PATH: process.env['PATH'], SHELL: '/bin/sh', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  let hasEnded = false;
  const output = new EventEmitter();
  terminal.stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
    output.emit('change');
  });
  const end = once(terminal, 'close').then(([code]) => {
    hasEnded = true;
    output.emit('change');
    return { code: code as number, text };
  });
  return {
    text: () => text,
    async waitFor(pattern, offset = 0) {
      while (!pattern.test(text.slice(offset))) {
        if (hasEnded) throw new Error(`The command ended without ${String(pattern)} in its output: ${text}`);
        await once(output, 'change');
      }
      return text;
    },
    type: (typed) => void terminal.stdin.write(typed),
    end,
  };
}

export async function runOnTerminal(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  steps: readonly Step[] = [],
): Promise<TerminalResult> {
  const terminal = startOnTerminal(args, environment);
  let offset = 0;
  for (const [at, typed] of steps) {
    // A command may end before the last step.
    const output = await terminal.waitFor(at, offset).catch(() => undefined);
    if (output === undefined) break;
    offset = output.length;
    terminal.type(typeof typed === 'string' ? typed : typed(output));
  }
  return terminal.end;
}

function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
