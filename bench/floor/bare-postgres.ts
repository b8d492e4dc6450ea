/** What a read takes at the least on PostgreSQL: the statements that ours was seen to send, by bare `pg`. */

import pg from 'pg';
import type { Respond } from './respond.ts';
import type { SentStatement } from './sent-statement.ts';

export interface SqlInput {
  readonly url: string;
  readonly statements: readonly SentStatement[];
}

/** As many as ours has for reading. */
const poolSize = 5;

/** In the same order on as many connections, each waiting for what ours waited for; what ours did not wait for, neither does it. */
export function respondBySql({ url, statements }: SqlInput, body: string): Respond {
  const config = {
    connectionString: url,
    options: '-c jit=off -c plan_cache_mode=force_generic_plan',
    pipeline: true,
  };
  const pool = new pg.Pool({ ...config, max: poolSize, idleTimeoutMillis: 0 });
  const own = [...new Set(statements.map(({ connection }) => connection))];
  const isLast = (place: number) =>
    /^commit/i.test(statements[place]!.text) && place === statements.length - 1;

  return async () => {
    const clients = await Promise.all(own.map(() => pool.connect()));
    const answers: Promise<unknown>[] = [];
    for (const { text, name, values, connection, afterAnswers } of statements) {
      if (afterAnswers > 0) await Promise.all(answers.slice(0, afterAnswers));
      const client = clients[own.indexOf(connection)]!;
      answers.push(client.query({ text, ...(name && { name }), ...(values && { values: [...values] }) }));
    }
    void Promise.all(answers).then(() => clients.forEach((client) => client.release()));
    await Promise.all(answers.filter((_, place) => !isLast(place)));
    return body;
  };
}
