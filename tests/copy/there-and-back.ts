/**
 * An installation goes from SQLite to PostgreSQL and back, by the command, with a server on each database in between:
 * whoever was logged in before still is, and the tree is the same.
 */

import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import { postgres, sqlite, type DatabaseKind, type TestDatabase } from '../support/databases.ts';
import { GraphTestbed } from '../support/graph-testbed.ts';
import { plantEstate, type Ask } from '../large-tree/estate.ts';
import { rareWord, plantedTimes, shapeEstate } from '../large-tree/tree-shape.ts';
import { Testbed, TestClock } from '../support/testbed.ts';
import { runCopy } from './copy-command.ts';

export interface Leg {
  readonly from: string;
  readonly to: string;
  readonly seconds: number;
}

export async function goThereAndBack(folders: number): Promise<Leg[]> {
  const clock = new TestClock();
  const kinds = [sqlite, postgres, sqlite];
  const databases: TestDatabase[] = [];
  try {
    for (const kind of kinds) databases.push(await kind.create());
    let seen: Seen | undefined;
    const legs: Leg[] = [];
    for (const [place, kind] of kinds.entries()) {
      const database = databases[place]!;
      const before = databases[place - 1];
      if (before) {
        const start = performance.now();
        const { code, output, errors } = await runCopy([before.url, database.url]);
        assert.equal(code, 0, errors);
        assert.match(output, /source and destination are the same/);
        const seconds = (performance.now() - start) / 1000;
        legs.push({ from: kinds[place - 1]!.name, to: kind.name, seconds });
      }
      const now = await visit(kind, { database, clock, folders, pair: seen?.pair });
      if (seen) assert.ok(now.tree === seen.tree, `the tree is another on ${kind.name}`);
      seen = now;
    }
    return legs;
  } finally {
    for (const database of databases) await database.remove();
  }
}

interface Seen {
  readonly pair: Pick<LoginResponse, 'authToken' | 'refreshToken'>;
  /** The whole export, as text. */
  readonly tree: string;
}

interface Visit {
  readonly database: TestDatabase;
  readonly clock: TestClock;
  readonly folders: number;
  /** Without one the installation is new: it gets its folders, and somebody logs in. */
  readonly pair: Seen['pair'] | undefined;
}

async function visit(kind: DatabaseKind, { database, clock, folders, pair }: Visit): Promise<Seen> {
  const settings = { MAX_EXPORT_FOLDERS: '10000000' };
  const bed = await Testbed.start(kind, { database, clock, settings });
  try {
    const answer = pair ? await bed.refresh(pair) : undefined;
    if (answer) assert.equal(answer.status, 200, `the refresh on ${kind.name}`);
    const next = answer?.json<LoginResponse>() ?? (await bed.logIn());
    const graph = new GraphTestbed(bed, next.authToken);
    const ask: Ask = (query, variables) => graph.query(query, variables);
    if (!pair) await plantEstate(ask, shapeEstate(folders));
    const searched = `{search(text: "${rareWord}"){totalCount}}`;
    assert.deepEqual(await ask(searched), { search: { totalCount: plantedTimes } });
    const exported = await bed.query(
      '{exportFolders{path title icon description properties}}',
      next.authToken,
    );
    return { pair: next, tree: exported.text };
  } finally {
    await bed.stop();
  }
}
