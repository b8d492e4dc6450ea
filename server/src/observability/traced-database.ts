/**
 * Wraps a database so that each statement and transaction is a span inside the span of its caller. The span of a statement
 * contains the statement's text without string literals. It never contains the value of a parameter.
 */

import { context, ROOT_CONTEXT, SpanKind, type Attributes } from '@opentelemetry/api';
import { bindActive, inSpan, type SpanDescription } from './spans.ts';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Database, Reader, Snapshot, Transaction } from '../database/database.ts';
import type { Statement } from '../database/statement.ts';

export type DatabaseSystem = 'sqlite' | 'postgresql';

export function traceDatabase(database: Database, system: DatabaseSystem): Database {
  const describe = describeStatements(database, system);

  const inStatement = <T>(
    statement: Statement,
    work: () => PromiseOrValue<T>,
    attributesOf?: (result: T) => Attributes,
  ) => {
    const { name, options } = describe(statement);
    return inSpan(name, options, work, attributesOf);
  };

  const traceReader = (reader: Reader) => ({
    all: <P, R>(statement: Statement<P, R>, parameters: P) =>
      inStatement(statement, () => reader.all(statement, parameters), countRows),
    get: <P, R>(statement: Statement<P, R>, parameters: P) =>
      inStatement(statement, () => reader.get(statement, parameters), countRow),
  });

  const traceSnapshot = (snapshot: Snapshot): Snapshot => ({ ...snapshot, ...traceReader(snapshot) });

  const traceTransaction = (transaction: Transaction): Transaction => ({
    ...transaction,
    ...traceReader(transaction),
    run: (statement, parameters) => inStatement(statement, () => transaction.run(statement, parameters)),
    queue: (statement, parameters, refuse) =>
      void inStatement(statement, () => transaction.queue(statement, parameters, refuse)),
    runEach: (statement, each) => {
      const { name, options } = describe(statement);
      const attributes = { ...options.attributes, 'db.operation.batch.size': each.length };
      return inSpan(name, { ...options, attributes }, () => transaction.runEach(statement, each));
    },
  });

  const bind = <Traced, T>(work: (traced: Traced) => T, wrap: (traced: Traced) => Traced) =>
    bindActive((traced: Traced) => work(wrap(traced)));
  const options = { kind: SpanKind.CLIENT, attributes: { 'db.system.name': system } };
  const inTransaction = <T>(name: string, run: () => Promise<T>) => inSpan(name, options, run) as Promise<T>;

  return {
    ...database,
    ...traceReader(database),
    transaction: (work) =>
      inTransaction('transaction', () => database.transaction(bind(work, traceTransaction))),
    change: (work, options) =>
      inTransaction('transaction', () => database.change(bind(work, traceTransaction), options)),
    exclusive: (work) => inTransaction('transaction', () => database.exclusive(bind(work, traceTransaction))),
    snapshot: (work) => inTransaction('snapshot', () => database.snapshot(bind(work, traceSnapshot))),
    shortSnapshot: (work) =>
      inTransaction('snapshot', () => database.shortSnapshot(bind(work, traceSnapshot))),
    openSnapshot: () => traceSnapshot(database.openSnapshot()),
    // Reading a committed change is not part of the trace that committed it.
    onCommit: (listener) => database.onCommit(() => context.with(ROOT_CONTEXT, listener)),
    get receivesNotifications() {
      return database.receivesNotifications;
    },
  };
}

function countRows(rows: readonly unknown[]): Attributes {
  return { 'db.response.returned_rows': rows.length };
}

function countRow(row: unknown): Attributes {
  return { 'db.response.returned_rows': row === undefined ? 0 : 1 };
}

/** Describes each statement once. The weak map releases a statement that was created for one query together with the query. */
function describeStatements(database: Database, system: DatabaseSystem) {
  const descriptions = new WeakMap<Statement, SpanDescription>();
  return (statement: Statement): SpanDescription => {
    let description = descriptions.get(statement);
    if (!description) {
      const text = removeStringLiterals(database.formatStatement(statement));
      const name = summarize(text);
      const attributes = { 'db.system.name': system, 'db.query.summary': name, 'db.query.text': text };
      descriptions.set(statement, (description = { name, options: { kind: SpanKind.CLIENT, attributes } }));
    }
    return description;
  };
}

/** A statement that was created for one query contains names from the client as string literals. */
function removeStringLiterals(text: string): string {
  return text
    .replace(/'(?:[^']|'')*'/g, '?')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The verb and the first table, for example `select folders`. */
function summarize(text: string): string {
  const [, verb = 'statement'] = /\b(select|insert|update|delete)\b/i.exec(text) ?? [];
  const [, table] = /\b(?:from|into|update)\s+([a-z_]+)/i.exec(text) ?? [];
  return table ? `${verb} ${table}` : verb;
}
