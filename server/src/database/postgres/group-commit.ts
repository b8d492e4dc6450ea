/** Group commit on PostgreSQL. It has a connection of its own: the next batch begins after the commit of the one before. */

import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Database } from '../database.ts';
import { GroupCommit, type SharedTransaction } from '../group-commit.ts';
import { endsConnection, isCollision } from './errors.ts';
import { newState, send, type TransactionRunner, type TransactionState } from './transaction.ts';

interface GroupCommitOptions {
  readonly connect: () => Promise<pg.PoolClient>;
  readonly beginText: string;
  readonly runner: TransactionRunner;
  readonly onCommit: (state: TransactionState) => void;
  readonly toRefusal: (error: unknown, state: TransactionState) => unknown;
  readonly queueFull: () => Error;
}

/** How long a change waits for the changes before it. */
const deadlineMs = 15_000;
const maxWaiting = 1_000;
const maxTries = 5;

export function createGroupCommit(options: GroupCommitOptions) {
  const { connect, beginText, runner, onCommit, toRefusal, queueFull } = options;
  let state = newState();

  const group = new GroupCommit({
    async begin() {
      group.giveUp(queueFull);
      if (group.waiting === 0) return undefined;
      state = newState();
      return sharedOn(await connect());
    },
    // After a collision, `change` runs it again.
    toRefusal: (error) => (isCollision(error) ? error : toRefusal(error, state)),
  });

  function sharedOn(client: pg.PoolClient): SharedTransaction {
    // Not awaited: the server responds to it before the next statement, which fails if this does.
    const sendAhead = (text: string) => void send(client, text).catch(() => undefined);
    let hasSavepoint = false;
    sendAhead(beginText);
    const transaction = runner.open(client, state);
    return {
      transaction,
      savepoint() {
        sendAhead(hasSavepoint ? 'release own; savepoint own' : 'savepoint own');
        hasSavepoint = true;
      },
      // The next savepoint releases it; a commit does not need to.
      release: () => undefined,
      async undo(error) {
        if (endsConnection(error)) return false;
        transaction.notes.clear();
        state.queued = [];
        try {
          await send(client, 'rollback to own');
          state.failure = undefined;
          return true;
        } catch {
          // The server rolls back a transaction whose connection is lost.
          return false;
        }
      },
      settle: () => runner.settle(client, state),
      async commit() {
        try {
          await runner.commit(client, state);
        } catch (error) {
          await rollBack(client, error);
          throw error;
        }
        client.release();
        onCommit(state);
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
      // The connection is lost, and the server rolls back.
      client.release(true);
    }
  }

  const change: Database['change'] = async (work, { takesLong = false } = {}) => {
    for (let tries = 1; ; tries++) {
      if (group.waiting >= maxWaiting) throw queueFull();
      try {
        return await group.run(work, { deadlineMs, isAlone: takesLong || tries > 1 });
      } catch (error) {
        if (!isCollision(error)) throw error;
        if (tries === maxTries) throw toRefusal(error, newState());
        await delay(Math.random() * 20 * tries);
      }
    }
  };
  return { group, change };
}
