/** A database file for a run. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import type { ChaosDatabase } from './chaos-database.ts';
import type { Tally } from './tally.ts';

export class ChaosFile implements ChaosDatabase {
  readonly mayBeDown = false;
  readonly #folder = mkdtempSync(join(tmpdir(), 'espalier-crashes-'));

  get url(): string {
    return `sqlite:${this.#file}`;
  }

  get #file(): string {
    return join(this.#folder, 'espalier.db');
  }

  check(tally: Tally): Promise<void> {
    const connection = new BetterSqlite(this.#file, { readonly: true });
    const integrity = connection.pragma('integrity_check', { simple: true }) as string;
    if (integrity !== 'ok') tally.reportViolation(`the file is damaged: ${integrity}`);
    const brokenReferences = connection.pragma('foreign_key_check') as unknown[];
    if (brokenReferences.length > 0)
      tally.reportViolation(`${brokenReferences.length} rows have broken references`);
    connection.close();
    return Promise.resolve();
  }

  remove(): Promise<void> {
    rmSync(this.#folder, { recursive: true });
    return Promise.resolve();
  }
}
