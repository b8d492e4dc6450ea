/** Loaded into a server before its program: writes each statement that it sends to PostgreSQL to its log. */

// eslint-disable-next-line no-restricted-imports -- What is sent is seen only here.
import pg from 'pg';
import { toLogLine, type SentStatement } from './sent-statement.ts';

const { query } = pg.Client.prototype as unknown as { query: (...given: unknown[]) => unknown };
const numbers = new WeakMap<object, number>();
let clients = 0;
let answered = 0;

Object.assign(pg.Client.prototype, {
  query(this: object, ...given: unknown[]): unknown {
    const [first] = given;
    if (!numbers.has(this)) numbers.set(this, ++clients);
    const { text, name, values } = typeof first === 'string' ? { text: first } : (first as pg.QueryConfig);
    const place = { connection: numbers.get(this)!, afterAnswers: answered };
    process.stderr.write(toLogLine({ text, name, values, ...place } as SentStatement));
    const result = query.apply(this, given);
    if (result instanceof Promise) {
      result.then(
        () => answered++,
        () => answered++,
      );
    }
    return result;
  },
});
