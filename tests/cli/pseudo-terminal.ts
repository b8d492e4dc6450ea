/** Runs the program on a terminal, using `script` of util-linux if it is installed. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { program } from '../support/espalier-command.ts';

export interface TerminalResult {
  readonly code: number;
  /** All output, including text that was overwritten later. */
  readonly text: string;
}

export const hasPseudoTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux') ?? false;

const ctrlC = '\x03';

export async function runOnTerminal(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  /** Presses Ctrl-C as soon as the output matches. */
  stopAt?: RegExp,
): Promise<TerminalResult> {
  const command = [process.execPath, '--conditions=espalier-source', program, ...args]
    .map(quoteForShell)
    .join(' ');
  const terminal = spawn('script', ['-qfec', `stty cols 100; ${command}`, '/dev/null'], {
    env: { PATH: process.env['PATH'], SHELL: '/bin/sh', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  let isStopped = false;
  terminal.stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
    if (isStopped || !stopAt?.test(text)) return;
    isStopped = true;
    terminal.stdin.write(ctrlC);
  });
  const [code] = (await once(terminal, 'close')) as [number];
  return { code, text };
}

function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
