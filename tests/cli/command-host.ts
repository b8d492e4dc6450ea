/**
 * A process that runs CLI commands one after another and returns their output and exit codes. Starting a process for
 * each command takes a hundred times as long. Tests that need a real process start their own.
 */

import { main } from '../../server/src/cli/espalier.ts';

const startFolder = process.cwd();
const commandOutput = { output: '', errors: '' };

capture(process.stdout, 'output');
capture(process.stderr, 'errors');

interface Command {
  readonly args: string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly folder?: string;
}

process.on('message', ({ args, environment, folder }: Command) => {
  process.env = environment;
  process.chdir(folder ?? startFolder);
  void main(args).then(
    () => sendResult(Number(process.exitCode ?? 0)),
    (error: unknown) => {
      commandOutput.errors += String((error as Error).stack);
      sendResult(-1);
    },
  );
});

function sendResult(code: number): void {
  process.send!({ code, ...commandOutput });
  Object.assign(commandOutput, { output: '', errors: '' });
  process.exitCode = 0;
}

function capture(stream: NodeJS.WriteStream, name: keyof typeof commandOutput): void {
  // Every command adds an error listener, so the default limit would cause a warning.
  stream.setMaxListeners(0);
  stream.write = (text: string | Uint8Array, ...more: unknown[]) => {
    commandOutput[name] += String(text);
    const callback = more.find((each) => typeof each === 'function');
    if (callback) process.nextTick(callback);
    return true;
  };
}
