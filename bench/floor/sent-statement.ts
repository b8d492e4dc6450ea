/** A statement that a server was seen to send to PostgreSQL, and how it stands in the log. */

export interface SentStatement {
  readonly text: string;
  readonly name?: string;
  readonly values?: readonly unknown[];
  /** Which of its connections. */
  readonly connection: number;
  /** How many of the statements before it were answered when it was sent. */
  readonly afterAnswers: number;
}

const mark = 'sent to PostgreSQL: ';

export function toLogLine(statement: SentStatement): string {
  return `${mark}${JSON.stringify(statement)}\n`;
}

/** Counted from the first of them. */
export function statementsIn(log: string): SentStatement[] {
  const sent = log
    .split('\n')
    .filter((line) => line.startsWith(mark))
    .map((line) => JSON.parse(line.slice(mark.length)) as SentStatement);
  const before = sent[0]?.afterAnswers ?? 0;
  return sent.map((statement) => ({ ...statement, afterAnswers: statement.afterAnswers - before }));
}
