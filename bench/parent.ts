/** The other end of child.ts, inside the child: answers questions until the parent is gone, however it went. */

import type { Question, Reply } from './child.ts';

export type Answers = Readonly<Record<string, (input: never) => unknown>>;

export function answerParent(answers: Answers, end: () => unknown): void {
  process.on('message', ({ name, input }: Question) => {
    answer(answers, name, input).then(
      (reply) => void process.send?.(reply),
      () => undefined,
    );
  });
  process.on('disconnect', () => {
    void Promise.resolve(end()).finally(() => process.exit());
  });
  // Ctrl-C reaches every process of the terminal; it is the parent that decides.
  process.on('SIGINT', () => undefined);
}

async function answer(answers: Answers, name: string, input: unknown): Promise<Reply> {
  try {
    return { value: await answers[name]!(input as never) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
