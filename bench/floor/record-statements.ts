/** Loaded into a server before its program: writes each statement that it sends to PostgreSQL to its log. */

import { EventEmitter } from 'node:events';
import pg from 'pg';
import { toLogLine, type SentStatement } from './sent-statement.ts';

const { query } = pg.Client.prototype as unknown as { query: (...given: unknown[]) => unknown };
const numbers = new WeakMap<object, number>();
let clients = 0;
let answered = 0;

Object.assign(pg.Client.prototype, {
  query(this: object, ...given: unknown[]): unknown {
    const [first, second] = given;
    if (!numbers.has(this)) numbers.set(this, ++clients);
    const config = typeof first === 'string' ? { text: first } : (first as pg.QueryConfig);
    const values = config.values ?? (Array.isArray(second) ? second : undefined);
    const place = { connection: numbers.get(this)!, afterAnswers: answered };
    process.stderr.write(
      toLogLine({ text: config.text, name: config.name, values, ...place } as SentStatement),
    );
    const result = query.apply(this, given);
    const count = () => void answered++;
    // Something to wait for, or something that tells by itself when it is over.
    if (result instanceof Promise) result.then(count, count);
    else if (result instanceof EventEmitter) result.once('end', count).once('error', count);
    return result;
  },
});
