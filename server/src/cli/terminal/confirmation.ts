/** Asks for confirmation before an action that cannot be undone. Without a terminal, a flag must confirm it. */

import { UsageError } from '../../config/start-error.ts';
import type { Option } from '../command.ts';
import { ExitError } from '../failures.ts';
import { ask } from './secret-input.ts';

export const yes = { short: 'y', about: 'Do not ask for confirmation' } as const satisfies Option;

/** The question is a sentence without its end: `Delete the user anna`. */
export async function confirm(question: string, isYes: boolean): Promise<void> {
  if (isYes) return;
  if (!process.stdin.isTTY) {
    throw new UsageError(
      'This cannot be undone, and there is no terminal to ask for confirmation. To confirm, use --yes.',
    );
  }
  const answer = await ask(`${question}? This cannot be undone. [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new ExitError(1, 'Cancelled. Nothing was changed.');
}
