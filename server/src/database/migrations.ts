/** Migrates a database: runs the steps of the schema that it has not recorded yet. */

import type { Clock } from '../clock.ts';
import { StartError } from '../config/start-error.ts';
import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Database, Dialect, Reader, Transaction } from './database.ts';
import { sql } from './statement.ts';
import { migrations } from './schema-steps.ts';

export { migrations };

const selectLast = sql<
  object,
  { number: number | null }
>`select max(number) as number from espalier_migrations`;
const recordStep = sql<{ number: number; name: string; now: number }>`
  insert into espalier_migrations (number, name, applied_at) values (${'number'}, ${'name'}, ${'now'})`;

export interface MigrationStep {
  readonly number: number;
  readonly name: string;
  readonly statements: readonly string[];
}

/** Runs the missing steps, each in a transaction. If several processes start at the same time, one of them runs each step. */
export async function migrate(
  database: Database,
  clock: Clock,
  onStep?: (step: MigrationStep) => void,
): Promise<void> {
  for (let isDone = false; !isDone;) {
    isDone = await database.exclusive(async (transaction) => {
      const [step, ...further] = await missingSteps(transaction, database.dialect);
      if (!step) return true;
      onStep?.(step);
      for (const text of step.statements) await transaction.define(text);
      await transaction.run(recordStep, { ...step, now: clock.now() });
      return further.length === 0;
    });
  }
}

/** The steps that `migrate` would run. */
export async function missingSteps(transaction: Transaction, dialect: Dialect): Promise<MigrationStep[]> {
  return allSteps(dialect).slice(await requireSchemaVersion(transaction));
}

/** The steps for a new database. */
export function allSteps(dialect: Dialect): MigrationStep[] {
  return migrations.map(({ name }, index) => ({
    number: index + 1,
    name,
    statements: listStatements(index, dialect),
  }));
}

/** The first step also creates the table that records the steps. */
function listStatements(index: number, dialect: Dialect): readonly string[] {
  const { integer, text, tableEnd } = dialect;
  const createTable = `create table espalier_migrations (
        number ${integer} primary key,
        name ${text} not null,
        applied_at ${integer} not null
      ) ${tableEnd}`;
  return [...(index === 0 ? [createTable] : []), ...migrations[index]!.statements(dialect)];
}

/** The number of the last step that a database of this program has taken. */
export function readSchemaVersion(reader: Reader): PromiseOrValue<number> {
  return whenDone(reader.get(selectLast, {}), (last) => last?.number ?? 0);
}

/** The number of the last step. Refuses a database of another program or of a newer version. */
export async function requireSchemaVersion(stored: Pick<Transaction, 'get' | 'tableNames'>): Promise<number> {
  const tables = await stored.tableNames();
  if (tables.length === 0) return 0;
  if (!tables.includes('espalier_migrations')) {
    throw new StartError(
      'The database holds the tables of another program. Give Espalier a database of its own.',
    );
  }
  const taken = (await stored.get(selectLast, {}))?.number ?? 0;
  if (taken > migrations.length) {
    throw new StartError(
      `The database is of a newer Espalier (schema ${taken}; this program knows ${migrations.length}). Start the newer program, or restore a backup made by this one.`,
    );
  }
  return taken;
}
