/**
 * A terminal for a reader's commands: a bash that receives one block after the other, as if pasted, and keeps its state
 * between blocks. Output is buffered until it is read.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { eventually } from '../support/eventually.ts';

export interface TerminalOptions {
  /** The initial folder. */
  readonly folder: string;
  /** A folder for files of the terminal itself. */
  readonly scratch: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const separator = '\u001e';
const timeoutMs = 150_000;

export class Terminal {
  /** All output. */
  output = '';
  readonly #bash: ChildProcess;
  readonly #input: Writable;
  readonly #scratch: string;
  readonly #ended: Promise<unknown>;
  #unread = '';
  #incompleteMark = '';
  #pastedBlocks = 0;
  #finishedBlocks = 0;
  #currentFolder = '';
  #isInterrupted = false;
  #failedCommand: string | undefined;

  constructor({ folder, scratch, environment }: TerminalOptions) {
    this.#scratch = scratch;
    this.#currentFolder = folder;
    this.#bash = spawn('bash', ['--norc', '--noprofile'], {
      cwd: folder,
      env: environment,
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
      // In its own process group, so that Ctrl-C reaches all of its programs.
      detached: true,
    });
    this.#ended = once(this.#bash, 'close');
    this.#input = this.#bash.stdin!;
    this.#input.on('error', () => undefined);
    this.#bash.stdout!.setEncoding('utf8').on('data', (text: string) => this.#append(text));
    // Ends the programs when this process ends for any reason.
    this.#input.write('( trap "" INT; cat <&3; kill -TERM -- -$$ ) >/dev/null 2>&1 & exec 3<&-\n');
    // A trap applies to the shell only: programs receive the signal, and the shell continues.
    this.#input.write(
      `exec 2>&1; trap : INT; trap 'printf "${separator}failed %s${separator}" "$BASH_COMMAND"' ERR\n`,
    );
  }

  /** The current folder after the last finished block. */
  get currentFolder(): string {
    return this.#currentFolder;
  }

  get isBusy(): boolean {
    return this.#finishedBlocks < this.#pastedBlocks;
  }

  /** Pastes commands. They read `standardInput`, if it is given. */
  async paste(text: string, standardInput?: string): Promise<void> {
    await eventually(() => !this.isBusy, 'the previous command has ended');
    const file = join(this.#scratch, `${process.pid}-${this.#bash.pid}-${++this.#pastedBlocks}.sh`);
    writeFileSync(file, `${text}\n`);
    this.#isInterrupted = false;
    this.#failedCommand = undefined;
    // Discards earlier output that was not read.
    this.#unread = '';
    const input = standardInput === undefined ? '</dev/null' : `<<< '${standardInput}'`;
    this.#input.write(`. '${file}' ${input}; printf '${separator}done %s${separator}' "$PWD"\n`);
  }

  /** Waits until all pasted commands have ended, and throws if one failed. */
  async finish(): Promise<void> {
    await eventually(() => this.#isOver() || !this.isBusy, 'the command ends', timeoutMs).catch(
      (error: unknown) => {
        throw new Error(`${(error as Error).message} Output:\n${this.#unread}`);
      },
    );
    if (this.#failedCommand !== undefined)
      throw new Error(`${this.#failedCommand} failed, and showed:\n${this.#unread}`);
  }

  /**
   * Waits until the unread output is as expected or the commands have ended. Returns the output and marks it as
   * read.
   */
  async readOutput(isAsExpected: (text: string) => boolean): Promise<string> {
    // After a command has ended, no more output arrives.
    const isReady = () => isAsExpected(this.#unread) || !this.isBusy || this.#isOver();
    await eventually(isReady, 'the expected output appears', timeoutMs).catch(() => undefined);
    const text = this.#unread;
    this.#unread = '';
    return text;
  }

  /** Also ignores the exit code of the interrupted command. */
  pressCtrlC(): void {
    this.#isInterrupted = true;
    process.kill(-this.#bash.pid!, 'SIGINT');
  }

  async close(): Promise<void> {
    if (this.#bash.exitCode === null && this.#bash.signalCode === null) {
      process.kill(-this.#bash.pid!, 'SIGTERM');
      // A shell that waits for a program handles SIGTERM only after the program has ended.
      process.kill(-this.#bash.pid!, 'SIGHUP');
    }
    this.#input.end();
    await this.#ended;
  }

  #isOver(): boolean {
    return this.#failedCommand !== undefined || this.#bash.exitCode !== null;
  }

  #append(text: string): void {
    const [clean, rest] = this.#readMarks(this.#incompleteMark + text);
    this.#incompleteMark = rest;
    this.output += clean;
    this.#unread += clean;
  }

  /** Removes the control marks from the output. Keeps an incomplete mark with the following text for later. */
  #readMarks(text: string): [clean: string, rest: string] {
    const parts = text.split(separator);
    const rest = parts.length % 2 === 0 ? separator + parts.pop()! : '';
    for (const mark of parts.filter((_, index) => index % 2 === 1)) {
      const [, what, value = ''] = /^(\w+) (.*)$/s.exec(mark)!;
      if (what === 'failed') this.#failedCommand ??= this.#isInterrupted ? undefined : value;
      else {
        this.#finishedBlocks++;
        this.#currentFolder = value;
      }
    }
    return [parts.filter((_, index) => index % 2 === 0).join(''), rest];
  }
}
