/** Runs an example like its user: a program in its own process, with its output and exit code. */

import assert from 'node:assert/strict';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { recordLog } from '../secrets/secret-record.ts';

export const examples = join(import.meta.dirname, '../../examples');

export type Command = readonly [string, ...string[]];

/** Returns the command for an example that uses the client. The example imports the client from its sources. */
export function nodeCommand(example: string, ...args: readonly string[]): Command {
  return [process.execPath, '--conditions=espalier-source', join(examples, example), ...args];
}

export interface ExampleResult {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
  /** Files that the example left in its temporary folder. */
  readonly remainingFiles: readonly string[];
}

/** A running example, without a terminal. Its output is searched for passwords and tokens. */
export class RunningExample {
  readonly result: Promise<ExampleResult>;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  #output = '';
  #errors = '';

  constructor([program, ...args]: Command, environment: Readonly<Record<string, string>>) {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-example-'));
    this.#child = spawn(program, args, {
      env: { PATH: process.env['PATH'], TMPDIR: folder, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { stdout, stderr } = this.#child;
    stdout.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    stderr.setEncoding('utf8').on('data', (text: string) => (this.#errors += text));
    this.result = once(this.#child, 'close').then(([code]) => {
      recordLog(this.#output + this.#errors);
      const remainingFiles = readdirSync(folder);
      rmSync(folder, { recursive: true });
      return { code: code as number | null, output: this.#output, errors: this.#errors, remainingFiles };
    });
  }

  /** Waits until the output contains the text. */
  async waitForOutput(expected: string): Promise<void> {
    while (!this.#output.includes(expected)) {
      await Promise.race([once(this.#child.stdout, 'data'), this.result]);
      const isOver = this.#child.stdout.closed && !this.#output.includes(expected);
      assert.ok(!isOver, `It ended without printing ${expected}:\n${this.#output}${this.#errors}`);
    }
  }

  stop(signal: NodeJS.Signals = 'SIGINT'): Promise<ExampleResult> {
    this.#child.kill(signal);
    return this.result;
  }
}

export function runExample(
  command: Command,
  environment: Readonly<Record<string, string>>,
): Promise<ExampleResult> {
  return new RunningExample(command, environment).result;
}
