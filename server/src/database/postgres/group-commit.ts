/** The shared transactions of changes on PostgreSQL. They have a connection of their own: the next batch begins after a commit. */

import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Database, Transaction } from '../database.ts';
import { GroupCommit, type SharedTransaction } from '../group-commit.ts';
import { endsConnection, PostgresFault } from './errors.ts';
import type { QueuedWrite } from './dialect.ts';

/** What a transaction has changed so far. */
export interface Written {
  rows: number;
  /** To be sent before the next statement. */
  queued: QueuedWrite[];
  isAnnounced: boolean;
  /** Why a statement has failed: nothing that follows can be committed. */
  failure: Error | undefined;
}

export interface PostgresGroupOptions {
  readonly connect: () => Promise<pg.PoolClient>;
  /** Sends a text without parameters. */
  readonly send: (client: pg.ClientBase, text: string) => Promise<unknown>;
  readonly beginText: string;
  readonly transactionOf: (client: pg.ClientBase, written: Written) => Transaction;
  /** Sends the queued statements. Throws if a statement of the transaction has failed. */
  readonly settle: (client: pg.ClientBase, written: Written) => Promise<void>;
  readonly commit: (client: pg.ClientBase, written: Written) => Promise<void>;
  readonly onCommit: (written: Written) => void;
  readonly toRefusal: (error: unknown, written: Written) => unknown;
  readonly tooManyWait: () => Error;
}

/** How long a change waits for those before it. */
const deadlineMs = 15_000;
const maxWaiting = 1_000;
const maxTries = 5;

export function createPostgresGroup(options: PostgresGroupOptions) {
  const { connect, send, beginText, transactionOf, settle, commit, onCommit, toRefusal, tooManyWait } =
    options;
  let written = nothingWritten();

  const group = new GroupCommit({
    async begin() {
      group.giveUp(tooManyWait);
      if (group.waiting === 0) return undefined;
      written = nothingWritten();
      return sharedOn(await connect());
    },
    // One that others got in the way of is tried again.
    toRefusal: (error) => (isCollision(error) ? error : toRefusal(error, written)),
  });

  function sharedOn(client: pg.PoolClient): SharedTransaction {
    // Not waited for: they are answered before the statements after them, which fail if they do.
    const sendAhead = (text: string) => void send(client, text).catch(() => undefined);
    let hasSavepoint = false;
    sendAhead(beginText);
    const transaction = transactionOf(client, written);
    return {
      transaction,
      savepoint() {
        sendAhead(hasSavepoint ? 'release own; savepoint own' : 'savepoint own');
        hasSavepoint = true;
      },
      // Sent with the next savepoint; a commit needs none.
      release: () => undefined,
      async undo(error) {
        if (endsConnection(error)) return false;
        transaction.notes.clear();
        written.queued = [];
        try {
          await send(client, 'rollback to own');
          written.failure = undefined;
          return true;
        } catch {
          // The server rolls back a transaction whose connection is lost.
          return false;
        }
      },
      settle: () => settle(client, written),
      async commit() {
        try {
          await commit(client, written);
        } catch (error) {
          await rollBack(client, error);
          throw error;
        }
        client.release();
        onCommit(written);
      },
      rollBack: (error) => rollBack(client, error),
    };
  }

  async function rollBack(client: pg.PoolClient, error: unknown): Promise<void> {
    const isLost = endsConnection(error);
    try {
      if (!isLost) await send(client, 'rollback');
      client.release(isLost);
    } catch {
      // The connection is lost, and the server rolls back by itself.
      client.release(true);
    }
  }

  const change: Database['change'] = async (work, { takesLong = false } = {}) => {
    for (let tries = 1; ; tries++) {
      if (group.waiting >= maxWaiting) throw tooManyWait();
      try {
        return await group.run(work, { deadlineMs, isAlone: takesLong || tries > 1 });
      } catch (error) {
        if (!isCollision(error)) throw error;
        if (tries === maxTries) throw toRefusal(error, nothingWritten());
        await delay(Math.random() * 20 * tries);
      }
    }
  };
  return { group, change };
}

export function nothingWritten(): Written {
  return { rows: 0, queued: [], isAnnounced: false, failure: undefined };
}

function isCollision(error: unknown): boolean {
  return error instanceof PostgresFault && error.isCollision;
}
