/**
 * A database whose statements and transactions are told to a tracer, each inside what asked for it. A statement is told by
 * its text alone: no value of a parameter, and no text that stands in it.
 */

import type { SpanWords, Tracer } from '../tracer.ts';
import type { Database, Reader, Snapshot, Transaction } from './database.ts';
import type { Statement } from './statement.ts';

export type DatabaseSystem = 'sqlite' | 'postgresql';

export function traceDatabase(database: Database, system: DatabaseSystem, tracer: Tracer): Database {
  const wordsOf = statementWords(database, system);

  const reading = (reader: Reader) => ({
    all: <P, R>(statement: Statement<P, R>, parameters: P) =>
      tracer.inSpan(wordsOf(statement), () => reader.all(statement, parameters), countRows),
    get: <P, R>(statement: Statement<P, R>, parameters: P) =>
      tracer.inSpan(wordsOf(statement), () => reader.get(statement, parameters), countRow),
  });

  const traced = (snapshot: Snapshot): Snapshot => ({ ...snapshot, ...reading(snapshot) });

  const writing = (transaction: Transaction): Transaction => ({
    ...transaction,
    ...reading(transaction),
    run: (statement, parameters) =>
      tracer.inSpan(wordsOf(statement), () => transaction.run(statement, parameters)),
    queue: (statement, parameters, refuse) =>
      void tracer.inSpan(wordsOf(statement), () => transaction.queue(statement, parameters, refuse)),
    runEach: (statement, each) => {
      const { facts, ...words } = wordsOf(statement);
      const inAll = { ...words, facts: { ...facts, 'db.operation.batch.size': each.length } };
      return tracer.inSpan(inAll, () => transaction.runEach(statement, each));
    },
  });

  /** Whoever is in line before may be the one who calls: so what is done is kept where it belongs. */
  const kept = <Handed, T>(work: (handed: Handed) => T, traced: (handed: Handed) => Handed) =>
    tracer.keep((handed: Handed) => work(traced(handed)));
  const inOne = <T>(name: string, run: () => Promise<T>) =>
    tracer.inSpan({ name, kind: 'client', facts: { 'db.system.name': system } }, run) as Promise<T>;

  return {
    ...database,
    ...reading(database),
    transaction: (work) => inOne('transaction', () => database.transaction(kept(work, writing))),
    change: (work, options) => inOne('transaction', () => database.change(kept(work, writing), options)),
    alone: (work) => inOne('transaction', () => database.alone(kept(work, writing))),
    snapshot: (work) => inOne('snapshot', () => database.snapshot(kept(work, traced))),
    moment: (work) => inOne('snapshot', () => database.moment(kept(work, traced))),
    openSnapshot: () => traced(database.openSnapshot()),
    // What others do with a change is no part of making it.
    watch: (onCommit) => database.watch(() => tracer.apart(onCommit)),
    get hearsOthers() {
      return database.hearsOthers;
    },
  };
}

function countRows(rows: readonly unknown[]) {
  return { 'db.response.returned_rows': rows.length };
}

function countRow(row: unknown) {
  return { 'db.response.returned_rows': row === undefined ? 0 : 1 };
}

/** Worked out once for each; some are made for a query, and gone with it. */
function statementWords(database: Database, system: DatabaseSystem): (statement: Statement) => SpanWords {
  const known = new WeakMap<Statement, SpanWords>();
  return (statement) => {
    let words = known.get(statement);
    if (!words) {
      const text = withoutTexts(database.textOf(statement));
      const name = summaryOf(text);
      const facts = { 'db.system.name': system, 'db.query.summary': name, 'db.query.text': text };
      known.set(statement, (words = { name, kind: 'client', facts }));
    }
    return words;
  };
}

/** Into a statement that is made for a query, names go that its client has chosen. */
function withoutTexts(text: string): string {
  return text
    .replace(/'(?:[^']|'')*'/g, '?')
    .replace(/\s+/g, ' ')
    .trim();
}

/** What it does, and to which table first. */
function summaryOf(text: string): string {
  const [, verb = 'statement'] = /\b(select|insert|update|delete)\b/i.exec(text) ?? [];
  const [, table] = /\b(?:from|into|update)\s+([a-z_]+)/i.exec(text) ?? [];
  return table ? `${verb} ${table}` : verb;
}
