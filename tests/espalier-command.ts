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

let host: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in a process that all commands of these tests share, one after the other: for commands that need no
 * process of their own. It starts with the first command and ends with this process.
 */
export function runInHost(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  folder?: string,
): Promise<Ended> {
  const running = last.then(() => sendToHost({ args, environment, folder }));
  last = running.catch(() => undefined);
  return running;
}

async function sendToHost(command: {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string | undefined;
}): Promise<Ended> {
  host ??= startHost();
  noteSettings(command.environment);
  // While no command runs, the host must not keep this process from ending.
  host.channel!.ref();
  host.send(command);
  const [ended] = (await once(host, 'message')) as [Ended];
  host.channel!.unref();
  keepOutput(ended.output);
  keepLog(ended.errors);
  return ended;
}

function startHost(): ChildProcess {
  const started = fork(join(import.meta.dirname, 'cli/command-host.ts'), [], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    execArgv: ['--conditions=espalier-source'],
  });
  started.unref();
  return started;
}
