/** Runs the CLI on a pseudo-terminal, which the `script` command of util-linux creates. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { program } from '../support/espalier-command.ts';

export interface TerminalResult {
  readonly code: number;
  /** All output, including text that was overwritten later. */
  readonly text: string;
}

export const hasPseudoTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux') ?? false;

export const ctrlC = '\x03';

/** Types a text as soon as the output after the previous step matches. */
export type Step = readonly [at: RegExp, typed: string];

export async function runOnTerminal(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  steps: readonly Step[] = [],
): Promise<TerminalResult> {
  const command = [process.execPath, '--conditions=espalier-source', program, ...args]
    .map(quoteForShell)
    .join(' ');
  const terminal = spawn('script', ['-qfec', `stty cols 100; ${command}`, '/dev/null'], {
    env: { PATH: process.env['PATH'], SHELL: '/bin/sh', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  let readEnd = 0;
  const remainingSteps = [...steps];
  terminal.stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
    if (!remainingSteps[0]?.[0].test(text.slice(readEnd))) return;
    readEnd = text.length;
    terminal.stdin.write(remainingSteps.shift()![1]);
  });
  const [code] = (await once(terminal, 'close')) as [number];
  return { code, text };
}

function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
