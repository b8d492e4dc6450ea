/** Snapshots on PostgreSQL: transactions that only read, each on a connection of its own. */

import type pg from 'pg';
import type { Snapshot } from '../database.ts';
import type { Statement } from '../statement.ts';
import type { BeginStatements } from './connections.ts';
import { send, type TransactionRunner } from './transaction.ts';

interface SnapshotOptions {
  readonly connect: () => Promise<pg.PoolClient>;
  readonly withLongReadClient: <T>(work: (client: pg.PoolClient) => Promise<T>) => Promise<T>;
  readonly begin: BeginStatements;
  readonly runner: TransactionRunner;
  readonly toRefusal: (error: unknown) => unknown;
}

interface Begun {
  readonly client: pg.PoolClient;
  readonly begun: Promise<unknown>;
}

export function createSnapshots({ connect, withLongReadClient, begin, runner, toRefusal }: SnapshotOptions) {
  const beginOn = (client: pg.PoolClient, text: string): Begun => {
    const begun = send(client, text);
    begun.catch(() => undefined);
    return { client, begun };
  };

  function createSnapshot(takeConnection: () => Promise<Begun>, onEnd: () => void): Snapshot {
    let isOver = false;
    // Another snapshot may use the connection after the end.
    const requireOpen = () => {
      if (isOver) throw new Error('This snapshot has ended.');
    };
    const all = async <P, R>(statement: Statement<P, R>, parameters: P): Promise<R[]> => {
      try {
        requireOpen();
        const { client, begun } = await takeConnection();
        requireOpen();
        const reading = runner.read(client, statement, parameters);
        // If `begin` has failed, each statement would read another state.
        const [rows] = await Promise.all([reading, begun]);
        return rows;
      } catch (error) {
        throw toRefusal(error);
      }
    };
    return {
      isConsistent: true,
      isEmbedded: false,
      all,
      get: async (statement, parameters) => (await all(statement, parameters))[0],
      end: () => {
        isOver = true;
        onEnd();
      },
    };
  }

  function openSnapshot(): Snapshot {
    let connection: Promise<Begun> | undefined;
    const takeConnection = async () => beginOn(await connect(), begin.reading);
    const release = ({ client }: Begun) =>
      send(client, 'commit').then(
        () => client.release(),
        () => client.release(true),
      );
    return createSnapshot(
      () => (connection ??= takeConnection()),
      () => void connection?.then(release, () => undefined),
    );
  }

  async function snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    try {
      return await withLongReadClient(async (client) => {
        const connection = Promise.resolve(beginOn(client, begin.longReading));
        const reader = createSnapshot(
          () => connection,
          () => undefined,
        );
        try {
          return await work(reader);
        } finally {
          reader.end();
          await send(client, 'commit').catch(() => undefined);
        }
      });
    } catch (error) {
      throw toRefusal(error);
    }
  }

  return { openSnapshot, snapshot };
}
