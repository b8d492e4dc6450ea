/** Imports a large directory on a terminal, either to the end or interrupted by Ctrl-C. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { DatabaseKind } from '../support/databases.ts';
import { CliTestbed } from './cli-testbed.ts';
import { ctrlC, runOnTerminal, type TerminalResult } from './pseudo-terminal.ts';

const perDirectory = 100;

/** Creates this number of directories and files. */
export function makeDirectory(top: string, entries: number): void {
  let directory = top;
  for (let count = 0; count < entries; count++) {
    if (count % perDirectory === 0) {
      directory = join(top, `Area ${Math.floor(count / perDirectory)}`);
      mkdirSync(directory);
    } else writeFileSync(join(directory, `Room ${count % perDirectory}`), '');
  }
}

export class LargeImport {
  readonly #testbed: CliTestbed;
  readonly #directory: string;
  readonly #entries: number;

  static async prepare(kind: DatabaseKind, entries: number): Promise<LargeImport> {
    // Creates the directory before the server starts, because this blocks the process.
    const directory = mkdtempSync(join(tmpdir(), 'espalier-large-'));
    makeDirectory(directory, entries);
    return new LargeImport(await CliTestbed.start(kind), directory, entries);
  }

  private constructor(testbed: CliTestbed, directory: string, entries: number) {
    this.#testbed = testbed;
    this.#directory = directory;
    this.#entries = entries;
  }

  async stop(): Promise<void> {
    rmSync(this.#directory, { recursive: true });
    await this.#testbed.stop();
  }

  /** Imports the whole directory and checks the counts. Returns the progress lines. */
  async runToEnd(): Promise<readonly string[]> {
    const parentId = await this.#testbed.tree.create('whole');
    const { code, text } = await this.#run('/whole');
    assert.equal(code, 0, text);
    const formattedCount = this.#entries.toLocaleString('en');
    assert.match(text, new RegExp(`Imported ${formattedCount} folders into /whole in [\\d.]+ s\\.\\r?\\n$`));
    assert.equal(await this.#count(parentId), this.#entries);
    return stepsOf(text);
  }

  /** Presses Ctrl-C as soon as the output matches. The tree must stay unchanged. */
  async runInterrupted(interruptPattern: RegExp): Promise<readonly string[]> {
    const parentId = await this.#testbed.tree.create('interrupted');
    const before = await this.#count();
    const { code, text } = await this.#run('/interrupted', interruptPattern);
    assert.equal(code, 130, text);
    assert.match(text, /espalier: Nothing was imported\.\r?\n$/);
    // This change waits for pending work of the server in the writer queue.
    await this.#testbed.tree.outcome('deleteFolder', { id: randomUUID() });
    assert.equal(await this.#count(), before);
    assert.equal(await this.#count(parentId), 0);
    return stepsOf(text);
  }

  #run(to: string, stopAt?: RegExp): Promise<TerminalResult> {
    const args = ['folder', 'import', this.#directory, to, '--files'];
    return runOnTerminal(args, this.#testbed.environment, stopAt && [[stopAt, ctrlC]]);
  }

  /** Counts the descendants of a folder, by default of the root. */
  async #count(id?: string): Promise<number> {
    const query = 'query($id: ID){folder(id: $id){descendants(first: 1){totalCount}}}';
    type Answer = { folder: { descendants: { totalCount: number } } };
    return (await this.#testbed.tree.query<Answer>(query, { id })).folder.descendants.totalCount;
  }
}

/** Returns the first and the last line of each step. */
function stepsOf(text: string): string[] {
  // For each text, the spinner moves the cursor to the start of the line and prints one character of its own first.
  const lines = stripVTControlCharacters(text.replaceAll('\x1b[1G', '\n'))
    .split(/\r?\n/)
    .map((line) => line.replace(/^[⠀-⣿] /, ''))
    .filter(Boolean);
  const step = (line: string | undefined) => line?.replace(/[\d[].*/, '');
  return lines.filter(
    (line, index) => step(line) !== step(lines[index - 1]) || step(line) !== step(lines[index + 1]),
  );
}
