/**
 * A terminal for a reader's commands: a bash that is told one block after the other, as if pasted, and knows afterwards what
 * the ones before have set. What is shown is kept until somebody has looked at it.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { eventually } from '../support/eventually.ts';

export interface TerminalPlace {
  /** Where it begins. */
  readonly folder: string;
  /** For what is not the reader's. */
  readonly scratch: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const separator = '\u001e';
const longestMs = 150_000;

export class Terminal {
  /** All that it has shown. */
  shown = '';
  readonly #bash: ChildProcess;
  readonly #input: Writable;
  readonly #scratch: string;
  readonly #ended: Promise<unknown>;
  #unread = '';
  #rest = '';
  #blocks = 0;
  #done = 0;
  #where = '';
  #isInterrupted = false;
  #failed: string | undefined;

  constructor({ folder, scratch, environment }: TerminalPlace) {
    this.#scratch = scratch;
    this.#where = folder;
    this.#bash = spawn('bash', ['--norc', '--noprofile'], {
      cwd: folder,
      env: environment,
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
      // A group of its own, which Ctrl-C reaches as a whole.
      detached: true,
    });
    this.#ended = once(this.#bash, 'close');
    this.#input = this.#bash.stdin!;
    this.#input.on('error', () => undefined);
    this.#bash.stdout!.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    // When this process is gone, however it went, so is what it has started.
    this.#input.write('( trap "" INT; cat <&3; kill -TERM -- -$$ ) >/dev/null 2>&1 & exec 3<&-\n');
    // A trap of the shell is not its programs': they are told of the key as ever, and the shell goes on.
    this.#input.write(
      `exec 2>&1; trap : INT; trap 'printf "${separator}failed %s${separator}" "$BASH_COMMAND"' ERR\n`,
    );
  }

  /** Where the last finished block has left it. */
  get where(): string {
    return this.#where;
  }

  get isBusy(): boolean {
    return this.#done < this.#blocks;
  }

  /** With what is typed when the commands ask for something. */
  async paste(text: string, typed?: string): Promise<void> {
    await eventually(() => !this.isBusy, 'the command before has ended');
    const file = join(this.#scratch, `${process.pid}-${this.#bash.pid}-${++this.#blocks}.sh`);
    writeFileSync(file, `${text}\n`);
    this.#isInterrupted = false;
    this.#failed = undefined;
    // Whoever goes on has seen enough of what was before.
    this.#unread = '';
    const input = typed === undefined ? '</dev/null' : `<<< '${typed}'`;
    this.#input.write(`. '${file}' ${input}; printf '${separator}done %s${separator}' "$PWD"\n`);
  }

  /** Until all that was pasted has been done, without a command that failed. */
  async finish(): Promise<void> {
    await eventually(() => this.#isOver() || !this.isBusy, 'the command comes to its end', longestMs).catch(
      (error: unknown) => {
        throw new Error(`${(error as Error).message} It has shown:\n${this.#unread}`);
      },
    );
    if (this.#failed !== undefined) throw new Error(`${this.#failed} failed, and showed:\n${this.#unread}`);
  }

  /** Until what nobody has looked at is as expected; that is then looked at. Answers with it, also if it never was. */
  async look(isAsExpected: (text: string) => boolean): Promise<string> {
    // What is not there when a command has ended will not come.
    const isSo = () => isAsExpected(this.#unread) || !this.isBusy || this.#isOver();
    await eventually(isSo, 'it is shown', longestMs).catch(() => undefined);
    const text = this.#unread;
    this.#unread = '';
    return text;
  }

  /** How a command ends that is stopped, is its own affair. */
  pressCtrlC(): void {
    this.#isInterrupted = true;
    process.kill(-this.#bash.pid!, 'SIGINT');
  }

  async close(): Promise<void> {
    if (this.#bash.exitCode === null && this.#bash.signalCode === null) {
      process.kill(-this.#bash.pid!, 'SIGTERM');
      // A shell that waits for a program does not hear it before that has ended.
      process.kill(-this.#bash.pid!, 'SIGHUP');
    }
    this.#input.end();
    await this.#ended;
  }

  #isOver(): boolean {
    return this.#failed !== undefined || this.#bash.exitCode !== null;
  }

  #take(text: string): void {
    const [clean, rest] = this.#readMarks(this.#rest + text);
    this.#rest = rest;
    this.shown += clean;
    this.#unread += clean;
  }

  /** Takes out what was told for us; a mark that is not whole yet is left for later, with what follows. */
  #readMarks(text: string): [clean: string, rest: string] {
    const parts = text.split(separator);
    const rest = parts.length % 2 === 0 ? separator + parts.pop()! : '';
    for (const mark of parts.filter((_, index) => index % 2 === 1)) {
      const [, what, told = ''] = /^(\w+) (.*)$/s.exec(mark)!;
      if (what === 'failed') this.#failed ??= this.#isInterrupted ? undefined : told;
      else {
        this.#done++;
        this.#where = told;
      }
    }
    return [parts.filter((_, index) => index % 2 === 0).join(''), rest];
  }
}
