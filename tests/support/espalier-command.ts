/**
 * Runs `espalier` commands and returns their output and exit code.
 */

import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { recordLog, recordOutput, recordSettings } from '../secrets/secret-record.ts';

export const program = new URL('../../server/bin/espalier.js', import.meta.url).pathname;

export interface CommandResult {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

export interface CommandOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Limits the size of files that the process writes, like a full disk. */
  readonly maxFileBytes?: number;
  /** Standard input. Empty by default. */
  readonly input?: string;
}

const blockBytes = 512;

export function runEspalier(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { environment, maxFileBytes, input = '' } = options;
  const limit = maxFileBytes === undefined ? 'unlimited' : String(Math.floor(maxFileBytes / blockBytes));
  const command = [process.execPath, '--conditions=espalier-source', program, ...args];
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    ...environment,
  };
  recordSettings(environment ?? {});
  for (const argument of args) recordSettings({ DATABASE_URL: argument });
  return new Promise((resolve) => {
    const child = execFile(
      'sh',
      ['-c', 'ulimit -f "$0" && exec "$@"', limit, ...command],
      { env },
      (error, output, errors) => {
        recordOutput(output);
        recordLog(errors);
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, output, errors });
      },
    );
    // The command may exit without reading its input.
    child.stdin!.on('error', () => undefined).end(input);
  });
}

let host: ChildProcess | undefined;
let lastCommand: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in a process that all commands of a test file share, one after the other. Use it for commands that
 * need no process of their own. The process starts with the first command and ends with the test process.
 */
export function runInHost(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  folder?: string,
): Promise<CommandResult> {
  const running = lastCommand.then(() => sendToHost({ args, environment, folder }));
  lastCommand = running.catch(() => undefined);
  return running;
}

async function sendToHost(command: {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string | undefined;
}): Promise<CommandResult> {
  host ??= startHost();
  recordSettings(command.environment);
  // An idle host must not keep the test process alive.
  host.channel!.ref();
  host.send(command);
  const [result] = (await once(host, 'message')) as [CommandResult];
  host.channel!.unref();
  recordOutput(result.output);
  recordLog(result.errors);
  return result;
}

function startHost(): ChildProcess {
  const child = fork(join(import.meta.dirname, '../cli/command-host.ts'), [], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    execArgv: ['--conditions=espalier-source'],
  });
  child.unref();
  return child;
}
