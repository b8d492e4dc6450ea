/**
 * SQLite, embedded: one connection writes, another reads, so that no request sees another's open transaction. A
 * commit returns only when it is on the disk. Knows SQLite's dialect and nothing of what is stored.
 */

import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import BetterSqlite, { type Database as Connection, type Statement as Prepared } from 'better-sqlite3';
import { createPlaces } from '../places.ts';
import { Refusal } from '../refusal.ts';
import { StartError } from '../start-error.ts';
import {
  isPromise,
  type Database,
  type DatabaseOptions,
  type PromiseOrValue,
  type Reader,
  type Transaction,
} from './database.ts';
import type { Part, Statement } from './statement.ts';

/** "ESPA", in the header of the file: https://www.sqlite.org/fileformat2.html#application_id */
const applicationId = 0x45535041;
/** While a file is opened, nobody else is served yet: other processes that open it may be waited for. */
const openTimeoutMs = 5_000;
const busyTimeoutMs = 20;
const busyPauseMs = 5;
const mostSnapshots = 16;
/** How often it is looked whether another process has written. */
const lookEveryMs = 200;
/** How long a transaction waits for other processes, from when it was asked for. */
const busyDeadlineMs = 5_000;
/** And one that must be alone. */
const aloneDeadlineMs = 10_000;

export function openSqlite(path: string, { mustExist, onStatement }: DatabaseOptions): Database {
  const file = resolve(path);
  if (mustExist && !isThere(file)) throw new StartError(`There is no database file ${file}.`);
  createPrivately(file);
  const writer = connect(file, { readonly: false });
  const reader = connect(file, { readonly: true });
  const read = statements(reader, onStatement);
  const write = statements(writer, onStatement);
  let isAnnounced = false;
  const transaction: Transaction = {
    ...write,
    announce: () => (isAnnounced = true),
    define: (text) => void writer.exec(text),
    tableNames: () =>
      writer.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all() as string[],
  };
  const control = transactionControl(writer);
  const nextTurn = line();
  const snapshots = snapshotConnections(file, onStatement);
  const commits = watchCommits(reader);

  function inTransaction<T>(
    work: (transaction: Transaction) => PromiseOrValue<T>,
    deadlineMs: number,
  ): Promise<T> {
    const deadline = performance.now() + deadlineMs;
    return nextTurn(async () => {
      await begin(control, deadline);
      isAnnounced = false;
      try {
        // Not awaited when it is already there: the whole transaction then happens in one go.
        const pending = work(transaction);
        const result = isPromise(pending) ? await pending : pending;
        control.commit.run();
        if (isAnnounced) commits.tell();
        return result;
      } catch (error) {
        if (writer.inTransaction) control.rollback.run();
        throw asRefusal(error);
      }
    });
  }

  return {
    dialect: {
      id: 'text',
      text: 'text',
      bytes: 'blob',
      integer: 'integer',
      tableEnd: 'strict, without rowid',
      searchIndex,
      afterLoading: [],
    },
    all: read.all,
    get: read.get,
    transaction: (work) => inTransaction(work, busyDeadlineMs),
    change: (work) => inTransaction(work, busyDeadlineMs),
    alone: (work) => inTransaction(work, aloneDeadlineMs),
    reading: () => ({ isOfOneMoment: false, all: read.all, get: read.get, end: () => undefined }),
    snapshot: snapshots.use,
    moment: snapshots.useBriefly,
    watch: commits.watch,
    explain: (error) => {
      const fault = error instanceof Refusal ? error.cause : error;
      if (!codeOf(fault)) return error;
      const { message } = fault as Error;
      return new StartError(`The database file ${file} cannot be prepared: ${message}.`, { cause: error });
    },
    close: () => {
      commits.stop();
      snapshots.close();
      reader.close();
      writer.close();
    },
  };
}

/** An empty file is none: it would be made into a database. */
function isThere(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** SQLite gives its side files the mode of the database file: nobody else may read any of them. */
function createPrivately(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, 'a', 0o600));
  } catch (cause) {
    throw new StartError(`The database file ${file} cannot be opened: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

function connect(file: string, options: { readonly: boolean }): Connection {
  try {
    const connection = new BetterSqlite(file, { ...options, timeout: openTimeoutMs });
    if (!options.readonly) claim(connection, file);
    connection.pragma('synchronous = full');
    connection.pragma('foreign_keys = on');
    connection.pragma(`busy_timeout = ${busyTimeoutMs}`);
    return connection;
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    const reason =
      codeOf(cause) === 'SQLITE_NOTADB' ? 'it is not a SQLite database' : (cause as Error).message;
    throw new StartError(`The database file ${file} cannot be used: ${reason}.`, { cause });
  }
}

/** Marks a new file as ours, and touches no other program's. */
function claim(connection: Connection, file: string): void {
  const isNew = connection.pragma('page_count', { simple: true }) === 0;
  if (!isNew && connection.pragma('application_id', { simple: true }) !== applicationId) {
    throw new StartError(
      `The database file ${file} is of another program. Give Espalier a database of its own.`,
    );
  }
  if (isNew) connection.pragma(`application_id = ${applicationId}`);
  connection.pragma('journal_mode = wal');
}

function transactionControl(writer: Connection) {
  return {
    begin: writer.prepare('begin immediate'),
    commit: writer.prepare('commit'),
    rollback: writer.prepare('rollback'),
  };
}

/** The file itself tells when another connection has changed it: https://www.sqlite.org/pragma.html#pragma_data_version */
function watchCommits(reader: Connection) {
  const watching: (() => void)[] = [];
  const tell = () => watching.forEach((onCommit) => onCommit());
  const readVersion = reader.prepare('pragma data_version').pluck();
  let version = readVersion.get();
  const look = () => {
    const now = readIfPossible();
    if (now === undefined || now !== version) tell();
    version = now;
  };
  const readIfPossible = () => {
    try {
      return readVersion.get();
    } catch {
      // Whoever reads after this meets the same trouble, and can tell.
      return undefined;
    }
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    tell,
    watch: (onCommit: () => void) => {
      watching.push(onCommit);
      timer ??= setInterval(look, lookEveryMs).unref();
    },
    stop: () => {
      watching.length = 0;
      clearInterval(timer);
    },
  };
}

/** Connections that stay at one moment for the time of some work; more than a few at once wait for each other. */
function snapshotConnections(file: string, onStatement?: (text: string) => void) {
  const opened: Connection[] = [];
  const free: { connection: Connection; read: ReturnType<typeof statements> }[] = [];
  const places = createPlaces(mostSnapshots);
  return {
    use: <T>(work: (reader: Reader) => Promise<T>): Promise<T> => places.use(() => atOneMoment(work)),
    useBriefly: atOneMoment,
    close: () => opened.forEach((connection) => connection.close()),
  };

  async function atOneMoment<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    const used = free.pop() ?? open();
    used.connection.exec('begin');
    try {
      return await work({ all: used.read.all, get: used.read.get });
    } finally {
      used.connection.exec('commit');
      free.push(used);
    }
  }

  function open() {
    const connection = connect(file, { readonly: true });
    opened.push(connection);
    return { connection, read: statements(connection, onStatement) };
  }
}

/** Another process may be writing: wait for it, and let other requests through in between. */
async function begin(control: ReturnType<typeof transactionControl>, deadline: number): Promise<void> {
  for (;;) {
    try {
      control.begin.run();
      return;
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_BUSY') || performance.now() > deadline) throw asRefusal(error);
      await delay(busyPauseMs);
    }
  }
}

/** Lets one task in at a time, in the order of asking. */
function line(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const turn = last.then(task);
    last = turn.catch(() => undefined);
    return turn;
  };
}

function statements(connection: Connection, onStatement?: (text: string) => void) {
  const known = new Map<Statement, Ready>();
  const ready = (statement: Statement): Ready => {
    let found = known.get(statement);
    if (!found) known.set(statement, (found = prepare(connection, statement)));
    onStatement?.(found.text);
    return found;
  };
  return {
    all: <P, R>(statement: Statement<P, R>, parameters: P): PromiseOrValue<R[]> => {
      const { prepared, valuesOf } = ready(statement);
      return prepared.all(valuesOf(parameters)) as R[];
    },
    get: <P, R>(statement: Statement<P, R>, parameters: P): PromiseOrValue<R | undefined> => {
      const { prepared, valuesOf } = ready(statement);
      return prepared.get(valuesOf(parameters)) as R | undefined;
    },
    run: <P>(statement: Statement<P, never>, parameters: P): PromiseOrValue<number> => {
      const { prepared, valuesOf } = ready(statement);
      return prepared.run(valuesOf(parameters)).changes;
    },
    runEach: <P>(statement: Statement<P, never>, each: readonly P[]): void => {
      const { prepared, valuesOf } = ready(statement);
      for (const parameters of each) prepared.run(valuesOf(parameters));
    },
  };
}

interface Ready {
  readonly text: string;
  readonly prepared: Prepared<unknown[]>;
  readonly valuesOf: (parameters: unknown) => unknown[];
}

function prepare(connection: Connection, { parts }: Statement): Ready {
  const order: { name: string; toValue?: (given: never) => unknown }[] = [];
  const write = (part: Part): string => {
    if (typeof part === 'string') return part;
    if (part.kind === 'parameter') {
      order.push({ name: part.name });
      return '?';
    }
    if (part.kind === 'possible-matches') {
      order.push({ name: part.text, toValue: trigramQuery }, { name: part.after }, { name: part.limit });
      return `(select rowid as number from folder_trigrams
        where folder_trigrams match ? and rowid > ? order by rowid limit ?) as possible`;
    }
    order.push({ name: part.name, toValue: JSON.stringify });
    if (part.kind === 'list') return '(select key as place, value from json_each(?)) as each';
    const { table, which } = part;
    const choice = `select ${table}.id from ${table} ${which.parts.map(write).join('')}`;
    return `json_each(?) as each cross join ${table} as chosen on chosen.id in (${choice})`;
  };
  const text = parts.map(write).join('');
  return {
    text,
    prepared: connection.prepare(text),
    valuesOf: (parameters) =>
      order.map(({ name, toValue }) => {
        const value = (parameters as Record<string, unknown>)[name];
        return toValue ? toValue(value as never) : value;
      }),
  };
}

/**
 * Trigrams of the folded texts (https://www.sqlite.org/fts5.html#the_trigram_tokenizer). Without their positions the
 * index is a fraction of the size, and enough to preselect.
 */
const searchIndex = [
  `create virtual table folder_trigrams using fts5(
    text, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1')`,
  // Small pages: a search leaps through the lists of frequent trigrams, and merging, which now and then comes with a
  // change, takes so many pages at a time.
  `insert into folder_trigrams (folder_trigrams, rank) values ('pgsz', 250)`,
  // Not for each row: a trigger that writes to this index makes it write out all that it has gathered so far.
  `create trigger folder_trigrams_insert after update of last on folder_numbers begin
    insert into folder_trigrams (rowid, text)
    select number, folded_name || char(10) || coalesce(folded_title, '') from folders
    where number > old.last and number <= new.last;
  end`,
  `create trigger folder_trigrams_update after update of folded_name, folded_title on folders
  when old.number is not null
    and (new.folded_name is not old.folded_name or new.folded_title is not old.folded_title) begin
    delete from folder_trigrams where rowid = old.number;
    insert into folder_trigrams (rowid, text)
    values (old.number, new.folded_name || char(10) || coalesce(new.folded_title, ''));
  end`,
  `create trigger folder_trigrams_delete after delete on folders when old.number is not null begin
    delete from folder_trigrams where rowid = old.number;
  end`,
];

const mostTrigrams = 16;

/**
 * A query that asks for some of the trigrams of a text: every other one and the last hold all of its letters. Each
 * more would cost as much again, and leave out hardly anything.
 */
function trigramQuery(text: string): string {
  const letters = [...text];
  const last = letters.length - 3;
  const trigrams = new Set<string>();
  for (let start = 0; start < last && trigrams.size < mostTrigrams; start += 2) add(start);
  add(last);
  return [...trigrams].join(' AND ');

  function add(start: number): void {
    const trigram = letters.slice(start, start + 3).join('');
    trigrams.add(`"${trigram.replaceAll('"', '""')}"`);
  }
}

const passing = /^SQLITE_(BUSY|FULL|READONLY|IOERR|CANTOPEN)/;

/** The machine's trouble is not the request's fault and may pass: disk full, read-only, busy. */
function asRefusal(error: unknown): unknown {
  if (!passing.test(codeOf(error))) return error;
  const message = 'The database cannot be written right now. Try again later.';
  return new Refusal('UNAVAILABLE', message, { cause: error, retryAfterSeconds: 5 });
}

function codeOf(error: unknown): string {
  return error instanceof BetterSqlite.SqliteError ? error.code : '';
}
