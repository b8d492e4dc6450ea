/** Several writes as one statement: PostgreSQL runs them as the parts of one `with` query. */

import type { PostgresStatement } from './text.ts';

export interface QueuedWrite {
  readonly statement: PostgresStatement;
  readonly parameters: unknown;
  /** Creates the error if no row is changed. */
  readonly refuse: (() => Error) | undefined;
}

/** By the names of their statements. Only the code decides which are queued together: they are few. */
const known = new Map<string, PostgresStatement>();

/** Takes a list with the parameters of each write. Returns one row with the number of rows that each write changed: `c0`, `c1`, … */
export function toOneStatement(writes: readonly QueuedWrite[]): PostgresStatement {
  const key = writes.map(({ statement: { name } }) => name).join(' ');
  let found = known.get(key);
  if (!found) {
    const statements = writes.map(({ statement }) => statement);
    known.set(key, (found = writeTogether(statements, `espalier_writes_${known.size}`)));
  }
  return found;
}

function writeTogether(statements: readonly PostgresStatement[], name: string): PostgresStatement {
  let before = 0;
  const parts = statements.map(({ text, valueCount }, index) => {
    const start = before;
    before += valueCount;
    const numbered = text.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + start}`);
    return `w${index} as (${numbered} returning 1)`;
  });
  const counts = statements.map((_, index) => `(select count(*) from w${index})::int as c${index}`);
  return {
    text: `with ${parts.join(', ')} select ${counts.join(', ')}`,
    name,
    valueCount: before,
    isPlannedByValue: false,
    hasLists: false,
    valuesOf: (parameters) =>
      statements.flatMap(({ valuesOf }, index) => valuesOf((parameters as unknown[])[index])),
  };
}
