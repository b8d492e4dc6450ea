/** Runs statements on a SQLite connection, and prepares each statement once. */

import type { Database as Connection } from 'better-sqlite3';
import type { DatabaseOptions } from '../database.ts';
import type { Statement } from '../statement.ts';
import { prepare, type PreparedStatement } from './dialect.ts';

export interface StatementOptions extends Pick<DatabaseOptions, 'onStatement' | 'onDuration'> {
  readonly toRefusal: (error: unknown) => unknown;
}

export type StatementRunner = ReturnType<typeof createUntimedRunner>;

/** Durations are measured only if `onDuration` is set. */
export function createStatementRunner(connection: Connection, options: StatementOptions): StatementRunner {
  const { onDuration } = options;
  const runner = createUntimedRunner(connection, options);
  return onDuration ? measure(runner, (ms) => onDuration('statement', ms)) : runner;
}

function measure<T extends Readonly<Record<string, (...parameters: never[]) => unknown>>>(
  functions: T,
  onDuration: (ms: number) => void,
): T {
  const wrapped = Object.entries(functions).map(([name, work]) => [
    name,
    (...parameters: never[]) => {
      const startedAt = performance.now();
      try {
        return work(...parameters);
      } finally {
        onDuration(performance.now() - startedAt);
      }
    },
  ]);
  return Object.fromEntries(wrapped) as T;
}

function createUntimedRunner(connection: Connection, { onStatement, toRefusal }: StatementOptions) {
  // Weak, because some statements are created for one query.
  const cache = new WeakMap<Statement, PreparedStatement>();
  const prepared = (statement: Statement): PreparedStatement => {
    let found = cache.get(statement);
    if (!found) cache.set(statement, (found = prepare(connection, statement)));
    onStatement?.(found.text);
    return found;
  };
  return {
    all<P, R>(statement: Statement<P, R>, parameters: P): R[] {
      try {
        return prepared(statement).all(parameters) as R[];
      } catch (error) {
        throw toRefusal(error);
      }
    },
    get<P, R>(statement: Statement<P, R>, parameters: P): R | undefined {
      try {
        return prepared(statement).get(parameters) as R | undefined;
      } catch (error) {
        throw toRefusal(error);
      }
    },
    run<P>(statement: Statement<P, never>, parameters: P): number {
      try {
        return prepared(statement).run(parameters);
      } catch (error) {
        throw toRefusal(error);
      }
    },
    runEach<P>(statement: Statement<P, never>, each: readonly P[]): void {
      try {
        const { run } = prepared(statement);
        for (const parameters of each) run(parameters);
      } catch (error) {
        throw toRefusal(error);
      }
    },
  };
}
