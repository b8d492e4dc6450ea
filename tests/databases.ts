/** The databases on which every promise is tested. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestDatabase {
  readonly url: string;
  remove(): void;
}

export interface DatabaseKind {
  readonly name: string;
  create(): TestDatabase;
}

const sqlite: DatabaseKind = {
  name: 'SQLite',
  create() {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
    return {
      url: `sqlite:${join(folder, 'espalier.db')}`,
      remove: () => rmSync(folder, { recursive: true }),
    };
  },
};

export const databaseKinds: readonly DatabaseKind[] = [sqlite];
