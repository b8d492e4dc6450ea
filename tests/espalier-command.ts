/** The program as an operator runs it: a command in a process of its own, with what it prints and how it ends. */

import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { keepLog, keepOutput, noteSettings } from './secrets/secret-record.ts';

export const program = new URL('../server/bin/espalier.js', import.meta.url).pathname;

export interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

export interface CommandOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** No file can be made larger: the disk is full for the process. */
  readonly mostFileBytes?: number;
  /** What it reads from standard input; nothing unless given. */
  readonly input?: string;
}

const blockBytes = 512;

export function runEspalier(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  const { environment, mostFileBytes, input = '' } = options;
  const limit = mostFileBytes === undefined ? 'unlimited' : String(Math.floor(mostFileBytes / blockBytes));
  const command = [process.execPath, '--conditions=espalier-source', program, ...args];
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    ...environment,
  };
  noteSettings(environment ?? {});
  for (const argument of args) noteSettings({ DATABASE_URL: argument });
  return new Promise((resolve) => {
    const child = execFile(
      'sh',
      ['-c', 'ulimit -f "$0" && exec "$@"', limit, ...command],
      { env },
      (error, output, errors) => {
        keepOutput(output);
        keepLog(errors);
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, output, errors });
      },
    );
    // It may end without having read.
    child.stdin!.on('error', () => undefined).end(input);
  });
}

/** The same in one process for many commands: for those that need none of their own. */
export class CommandHost {
  readonly #process: ChildProcess;
  #last: Promise<unknown> = Promise.resolve();

  constructor() {
    this.#process = fork(join(import.meta.dirname, 'cli/command-host.ts'), [], {
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
      execArgv: ['--conditions=espalier-source'],
    });
  }

  /** One after the other; in a folder of its own, if that matters. */
  run(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    folder?: string,
  ): Promise<Ended> {
    const running = this.#last.then(() => this.#runNow(args, environment, folder));
    this.#last = running.catch(() => undefined);
    return running;
  }

  async #runNow(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    folder: string | undefined,
  ): Promise<Ended> {
    noteSettings(environment);
    this.#process.send({ args, environment, folder });
    const [ended] = (await once(this.#process, 'message')) as [Ended];
    keepOutput(ended.output);
    keepLog(ended.errors);
    return ended;
  }

  async stop(): Promise<void> {
    this.#process.disconnect();
    await once(this.#process, 'exit');
  }
}
