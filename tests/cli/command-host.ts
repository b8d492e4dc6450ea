/**
 * A process that runs one command after the other as the program does, and tells what each printed and how it ended. Starting
 * a process for each takes a hundred times as long; what a process of its own matters for is tested with one.
 */

import { main } from '../../server/src/cli/espalier.ts';

const startFolder = process.cwd();
const printed = { output: '', errors: '' };

keep(process.stdout, 'output');
keep(process.stderr, 'errors');

interface Command {
  readonly args: string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly folder?: string;
}

process.on('message', ({ args, environment, folder }: Command) => {
  process.env = environment;
  process.chdir(folder ?? startFolder);
  void main(args).then(
    () => tell(Number(process.exitCode ?? 0)),
    (error: unknown) => {
      printed.errors += String((error as Error).stack);
      tell(-1);
    },
  );
});

function tell(code: number): void {
  process.send!({ code, ...printed });
  Object.assign(printed, { output: '', errors: '' });
  process.exitCode = 0;
}

function keep(stream: NodeJS.WriteStream, name: keyof typeof printed): void {
  // Every command listens for its errors.
  stream.setMaxListeners(0);
  stream.write = (text: string | Uint8Array, ...more: unknown[]) => {
    printed[name] += String(text);
    const done = more.find((each) => typeof each === 'function');
    if (done) process.nextTick(done);
    return true;
  };
}
