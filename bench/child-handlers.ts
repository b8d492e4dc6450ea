/** Runs inside a process that child.ts started: handles the parent's calls, and exits when the parent has ended. */

import type { Call, Reply } from './child.ts';

export type Handlers = Readonly<Record<string, (input: never) => unknown>>;

export function serveParent(handlers: Handlers, end: () => unknown): void {
  process.on('message', ({ name, input }: Call) => {
    handleCall(handlers, name, input).then(
      (reply) => void process.send?.(reply),
      () => undefined,
    );
  });
  process.on('disconnect', () => {
    void Promise.resolve(end()).finally(() => process.exit());
  });
  // Ctrl-C reaches every process of the terminal. The parent decides when the child stops.
  process.on('SIGINT', () => undefined);
}

async function handleCall(handlers: Handlers, name: string, input: unknown): Promise<Reply> {
  try {
    return { value: await handlers[name]!(input as never) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
