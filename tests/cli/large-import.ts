/** A large directory that is imported on a terminal, to its end and interrupted halfway. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseKind } from '../support/databases.ts';
import { CliBed } from './cli-bed.ts';
import { runOnTerminal, type Seen } from './pseudo-terminal.ts';

const perDirectory = 100;

/** Directories and files, so many in all. */
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
  readonly #bed: CliBed;
  readonly #directory: string;
  readonly #entries: number;

  static async prepare(kind: DatabaseKind, entries: number): Promise<LargeImport> {
    // Before the server, which would not hear anything meanwhile.
    const directory = mkdtempSync(join(tmpdir(), 'espalier-large-'));
    makeDirectory(directory, entries);
    return new LargeImport(await CliBed.start(kind), directory, entries);
  }

  private constructor(bed: CliBed, directory: string, entries: number) {
    this.#bed = bed;
    this.#directory = directory;
    this.#entries = entries;
  }

  async stop(): Promise<void> {
    rmSync(this.#directory, { recursive: true });
    await this.#bed.stop();
  }

  /** Ends with the right counts. Answers with what was seen of its progress. */
  async whole(): Promise<readonly string[]> {
    const parentId = await this.#bed.tree.create('whole');
    const { code, text } = await this.#run('/whole');
    assert.equal(code, 0, text);
    const shown = this.#entries.toLocaleString('en');
    assert.match(text, new RegExp(`Imported ${shown} folders into /whole in [\\d.]+ s\\.\\r?\\n$`));
    assert.equal(await this.#count(parentId), this.#entries);
    return stepsOf(text);
  }

  /** By Ctrl-C, as soon as this is seen. The tree is as before. */
  async interrupted(stopAt: RegExp): Promise<readonly string[]> {
    const parentId = await this.#bed.tree.create('interrupted');
    const before = await this.#count();
    const { code, text } = await this.#run('/interrupted', stopAt);
    assert.equal(code, 130, text);
    assert.match(text, /espalier: Nothing was imported\.\r?\n$/);
    // In line behind what the server may still do.
    await this.#bed.tree.outcome('deleteFolder', { id: randomUUID() });
    assert.equal(await this.#count(), before);
    assert.equal(await this.#count(parentId), 0);
    return stepsOf(text);
  }

  #run(to: string, stopAt?: RegExp): Promise<Seen> {
    const args = ['folder', 'import', this.#directory, to, '--files'];
    return runOnTerminal(args, this.#bed.environment, stopAt);
  }

  /** How many folders are inside one, or inside the root. */
  async #count(id?: string): Promise<number> {
    const query = 'query($id: ID){folder(id: $id){descendants(first: 1){totalCount}}}';
    type Answer = { folder: { descendants: { totalCount: number } } };
    return (await this.#bed.tree.query<Answer>(query, { id })).folder.descendants.totalCount;
  }
}

/** Each step as it was first and last drawn. */
function stepsOf(text: string): string[] {
  // eslint-disable-next-line no-control-regex -- what takes a line away
  const lines = text.split(/\r\x1b\[K|\r?\n/).filter(Boolean);
  const step = (line: string | undefined) => line?.replace(/[\d[].*/, '');
  return lines.filter(
    (line, place) => step(line) !== step(lines[place - 1]) || step(line) !== step(lines[place + 1]),
  );
}
