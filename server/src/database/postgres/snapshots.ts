/** Snapshots on PostgreSQL: read-only transactions, each on its own connection. */

import type pg from 'pg';
import type { Snapshot } from '../database.ts';
import type { Statement } from '../statement.ts';
import { send, type TransactionRunner } from './transaction.ts';

interface OpenConnection {
  readonly client: pg.PoolClient;
  readonly beginResult: Promise<unknown>;
}

/** The snapshot takes a connection at its first read. The pool `longReads` is for long reads. */
export function openSnapshot(runner: TransactionRunner, pool: 'shortReads' | 'longReads'): Snapshot {
  const { connections, faults } = runner.options;
  let connection: Promise<OpenConnection> | undefined;
  let isOver = false;
  // After the end, another snapshot may use the connection.
  const requireOpen = () => {
    if (isOver) throw new Error('This snapshot has ended.');
  };
  const connect = async () => beginOn(await connections.connect(pool), connections.begin[pool]);
  const all = async <P, R>(statement: Statement<P, R>, parameters: P): Promise<R[]> => {
    try {
      requireOpen();
      const { client, beginResult } = await (connection ??= connect());
      requireOpen();
      const pendingRows = runner.read(client, statement, parameters);
      // If `begin` failed, each statement would read a different state.
      const [rows] = await Promise.all([pendingRows, beginResult]);
      return rows;
    } catch (error) {
      throw faults.toRefusal(error);
    }
  };
  return {
    isConsistent: true,
    isEmbedded: false,
    all,
    get: async (statement, parameters) => (await all(statement, parameters))[0],
    end: () => {
      isOver = true;
      void connection?.then(release, () => undefined);
      connection = undefined;
    },
  };
}

/** Does not wait for `begin`: PostgreSQL responds to it before the first statement. */
function beginOn(client: pg.PoolClient, text: string): OpenConnection {
  const beginResult = send(client, text);
  beginResult.catch(() => undefined);
  return { client, beginResult };
}

function release({ client }: OpenConnection): Promise<void> {
  return send(client, 'commit').then(
    () => client.release(),
    () => client.release(true),
  );
}
