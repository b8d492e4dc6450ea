/** Runs the program in its own process, for tests of its start. */

import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { recordLog, recordOutput, recordSettings } from '../secrets/secret-record.ts';
import { withoutSyncWarning } from '../postgres/sync-warning.ts';
import { program, type CommandResult } from '../support/espalier-command.ts';

export class ProgramProcess {
  readonly #process: ChildProcess;
  output = '';
  errors = '';
  readonly #ended: Promise<unknown>;

  constructor(
    folder: string,
    args: string[],
    environment: Record<string, string> = {},
    errors: number | 'pipe' = 'pipe',
  ) {
    this.#process = spawn(process.execPath, ['--conditions=espalier-source', program, ...args], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        ESPALIER_PORT: '0',
        ...environment,
      },
      stdio: ['ignore', 'pipe', errors],
    });
    recordSettings(environment);
    this.#ended = once(this.#process, 'close').then(() => {
      recordOutput(this.output);
      recordLog(this.errors);
    });
    this.#process.stdout!.on('data', (text: Buffer) => (this.output += text.toString()));
    this.#process.stderr?.on('data', (text: Buffer) => (this.errors += text.toString()));
  }

  async waitUntilRunning(): Promise<string> {
    while (!this.output.includes('Stop with Ctrl-C.')) {
      await Promise.race([once(this.#process.stdout!, 'data'), this.#ended]);
      assert.equal(this.#process.exitCode, null, this.errors);
    }
    return /API +(\S+)/.exec(this.output)![1]!;
  }

  /** Closes the output, like a program that reads only the first lines. */
  closeOutput(): void {
    this.#process.stdout!.destroy();
  }

  async end(signal?: NodeJS.Signals): Promise<CommandResult> {
    if (signal) this.#process.kill(signal);
    await this.#ended;
    return { code: this.#process.exitCode ?? -1, output: this.output, errors: this.errors };
  }
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly url?: string;
  readonly database?: string;
  readonly workers?: number;
  readonly route?: string;
  readonly signal?: string;
}

/** Parses the log. Every line is JSON. */
export function parseLog(errors: string): LogLine[] {
  const lines = withoutSyncWarning(errors).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as LogLine);
}
