/** Snapshots on PostgreSQL: transactions that only read, each on a connection of its own. */

import type pg from 'pg';
import type { Snapshot } from '../database.ts';
import type { Statement } from '../statement.ts';
import { send, type TransactionRunner } from './transaction.ts';

interface Begun {
  readonly client: pg.PoolClient;
  readonly begun: Promise<unknown>;
}

/** The snapshot takes a connection at its first read. The pool `snapshots` is for long reads. */
export function openSnapshot(runner: TransactionRunner, pool: 'reading' | 'snapshots'): Snapshot {
  const { connections, faults } = runner.options;
  let connection: Promise<Begun> | undefined;
  let isOver = false;
  // After the end, another snapshot may use the connection.
  const requireOpen = () => {
    if (isOver) throw new Error('This snapshot has ended.');
  };
  const connect = async () => beginOn(await connections.connect(pool), connections.begin[pool]);
  const all = async <P, R>(statement: Statement<P, R>, parameters: P): Promise<R[]> => {
    try {
      requireOpen();
      const { client, begun } = await (connection ??= connect());
      requireOpen();
      const reading = runner.read(client, statement, parameters);
      // If `begin` failed, each statement would read a different state.
      const [rows] = await Promise.all([reading, begun]);
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

/** Does not await `begin`: the server responds to it before the first statement. */
function beginOn(client: pg.PoolClient, text: string): Begun {
  const begun = send(client, text);
  begun.catch(() => undefined);
  return { client, begun };
}

function release({ client }: Begun): Promise<void> {
  return send(client, 'commit').then(
    () => client.release(),
    () => client.release(true),
  );
}
