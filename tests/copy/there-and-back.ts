/**
 * Copies an installation from SQLite to PostgreSQL and back with `espalier copy`, and starts a server on each database in
 * between. Checks that sessions stay valid and that the tree stays the same.
 */

import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import { postgres, sqlite, type DatabaseKind, type TestDatabase } from '../support/databases.ts';
import { GraphTestbed } from '../support/graph-testbed.ts';
import { createEstate, type RunQuery } from '../large-tree/estate.ts';
import { rareWord, searchHits, shapeEstate } from '../large-tree/tree-shape.ts';
import { Testbed, TestClock } from '../support/testbed.ts';
import { runCopy } from './copy-command.ts';

export interface Leg {
  readonly from: string;
  readonly to: string;
  readonly seconds: number;
}

export async function copyThereAndBack(folders: number): Promise<Leg[]> {
  const clock = new TestClock();
  const kinds = [sqlite, postgres, sqlite];
  const databases: TestDatabase[] = [];
  try {
    for (const kind of kinds) databases.push(await kind.create());
    let previousState: State | undefined;
    const legs: Leg[] = [];
    for (const [index, kind] of kinds.entries()) {
      const database = databases[index]!;
      const sourceDatabase = databases[index - 1];
      if (sourceDatabase) {
        const start = performance.now();
        const { code, output, errors } = await runCopy([sourceDatabase.url, database.url]);
        assert.equal(code, 0, errors);
        assert.match(output, /The source and the destination are identical/);
        const seconds = (performance.now() - start) / 1000;
        legs.push({ from: kinds[index - 1]!.name, to: kind.name, seconds });
      }
      const currentState = await visit(kind, { database, clock, folders, tokens: previousState?.tokens });
      if (previousState)
        assert.ok(currentState.tree === previousState.tree, `the tree differs on ${kind.name}`);
      previousState = currentState;
    }
    return legs;
  } finally {
    for (const database of databases) await database.remove();
  }
}

interface State {
  readonly tokens: Pick<LoginResponse, 'authToken' | 'refreshToken'>;
  /** The whole export as text. */
  readonly tree: string;
}

interface Visit {
  readonly database: TestDatabase;
  readonly clock: TestClock;
  readonly folders: number;
  /** Without tokens the installation is new: the visit creates its folders and logs in. */
  readonly tokens: State['tokens'] | undefined;
}

async function visit(kind: DatabaseKind, { database, clock, folders, tokens }: Visit): Promise<State> {
  const settings = { MAX_EXPORT_FOLDERS: '10000000' };
  const testbed = await Testbed.start(kind, { database, clock, settings });
  try {
    const answer = tokens ? await testbed.refresh(tokens) : undefined;
    if (answer) assert.equal(answer.status, 200, `the refresh on ${kind.name}`);
    const newTokens = answer?.json<LoginResponse>() ?? (await testbed.logIn());
    const graph = new GraphTestbed(testbed, newTokens.authToken);
    const query: RunQuery = (query, variables) => graph.query(query, variables);
    if (!tokens) await createEstate(query, shapeEstate(folders));
    const searchQuery = `{search(text: "${rareWord}"){totalCount}}`;
    assert.deepEqual(await query(searchQuery), { search: { totalCount: searchHits } });
    const exportResponse = await testbed.query(
      '{exportFolders{path title icon description properties}}',
      newTokens.authToken,
    );
    return { tokens: newTokens, tree: exportResponse.text };
  } finally {
    await testbed.stop();
  }
}
