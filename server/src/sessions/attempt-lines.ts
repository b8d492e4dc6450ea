/**
 * The attempts under way in this process, in the order in which they came, by what they count against. An attempt knows
 * how many before it may yet turn out to be wrong: so it waits for them instead of slipping through beside them.
 */

import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { Refusal } from '../refusal.ts';

export interface Line {
  readonly key: string;
  /** So many at its front are looked at; the others wait. */
  readonly atOnce: number;
}

export interface Attempt {
  /** How many came before it to each of its lines, and are not done. */
  ahead(): number[];
  /** Resolves when somebody has left since this was called, and it is one of those at the front. */
  moved(): Promise<void>;
  leave(): void;
}

export interface AttemptLines {
  /** At the end of all of these lines at the same instant: so nobody waits in a circle. */
  join(lines: readonly Line[]): Attempt;
}

/** The same lines, for attempts that may stand in them elsewhere: workers of one node share theirs. */
export interface SharedLines {
  join(lines: readonly Line[]): PromiseOrValue<Attempt>;
}

/** Who waits behind so many would give up before it is their turn. */
const mostInLine = 500;

export function createAttemptLines(): AttemptLines {
  const waiting = new Map<string, Waiting[]>();

  return {
    join(lines) {
      const attempt: Waiting = { wake: () => undefined };
      const joined = lines.map(({ key }) => waiting.get(key) ?? []);
      if (joined.some(({ length }) => length >= mostInLine)) throw tooManyInLine();
      lines.forEach(({ key }, place) => {
        joined[place]!.push(attempt);
        waiting.set(key, joined[place]!);
      });
      return {
        ahead: () => joined.map((line) => line.indexOf(attempt)),
        moved: () => new Promise((resolve) => (attempt.wake = resolve)),
        leave: () =>
          lines.forEach(({ key, atOnce }, place) => {
            const line = joined[place]!;
            line.splice(line.indexOf(attempt), 1);
            if (line.length === 0) waiting.delete(key);
            for (const { wake } of line.slice(0, atOnce)) wake();
          }),
      };
    },
  };
}

export function tooManyInLine(): Refusal {
  return new Refusal('UNAVAILABLE', 'Too many logins at once. Try again in a moment.', {
    retryAfterSeconds: 5,
  });
}

interface Waiting {
  wake: () => void;
}
