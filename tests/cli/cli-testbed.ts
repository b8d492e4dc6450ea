/** A test server, and CLI commands that use a stored login for it. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseKind } from '../support/databases.ts';
import {
  program,
  runEspalier,
  runInHost,
  type CommandOptions,
  type CommandResult,
} from '../support/espalier-command.ts';
import { recordLog } from '../secrets/secret-record.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { administrator, type TestbedOptions } from '../support/testbed.ts';

export class CliTestbed {
  readonly tree: TreeTestbed;
  /** The folder for stored logins and for files of the test. */
  readonly folder: string;

  static async start(kind: DatabaseKind, options?: TestbedOptions): Promise<CliTestbed> {
    const testbed = new CliTestbed(await TreeTestbed.start(kind, options));
    await testbed.logIn();
    return testbed;
  }

  private constructor(tree: TreeTestbed) {
    this.tree = tree;
    this.folder = mkdtempSync(join(tmpdir(), 'espalier-cli-'));
  }

  async stop(): Promise<void> {
    await this.tree.stop();
    rmSync(this.folder, { recursive: true });
  }

  get profile(): string {
    return join(this.folder, 'espalier', 'profiles', 'default.json');
  }

  /** Sets a UTF-8 locale, and inherits no variable of the test process. */
  get environment(): Record<string, string> {
    return { XDG_CONFIG_HOME: this.folder, LC_ALL: 'C.UTF-8' };
  }

  logIn(options = ['--url', this.tree.server.url]): Promise<CommandResult> {
    const args = ['login', ...options, '-u', administrator.username, '--password-stdin'];
    return this.run(args, { input: administrator.password });
  }

  /** Runs a command in its own process if there are options, otherwise in a shared process, which is much faster. */
  run(args: readonly string[], options?: CommandOptions): Promise<CommandResult> {
    if (!options) return runInHost(args, this.environment);
    return runEspalier(args, { ...options, environment: { ...this.environment, ...options.environment } });
  }

  /** Returns the output of a command that must succeed. */
  async output(...args: string[]): Promise<string> {
    const { code, output, errors } = await this.run(args);
    if (code !== 0) throw new Error(`espalier ${args.join(' ')} ended with ${code}: ${errors}`);
    return output;
  }

  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.output(...args, '--json')) as T;
  }

  /** Starts a command that keeps running. */
  start(...args: string[]): RunningCommand {
    return new RunningCommand(args, this.environment);
  }
}

export class RunningCommand {
  readonly #process: ChildProcess;
  readonly #ended: Promise<number>;
  #output = '';
  #errors = '';
  #waiters: (() => void)[] = [];

  constructor(args: readonly string[], environment: Record<string, string>) {
    this.#process = spawn(process.execPath, ['--conditions=espalier-source', program, ...args], {
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const collect = (append: (text: string) => void) => (chunk: Buffer) => {
      append(String(chunk));
      for (const notify of this.#waiters.splice(0)) notify();
    };
    this.#process.stdout!.on(
      'data',
      collect((text) => (this.#output += text)),
    );
    this.#process.stderr!.on(
      'data',
      collect((text) => (this.#errors += text)),
    );
    this.#ended = once(this.#process, 'close').then(([code, signal]) => {
      recordLog(this.#output + this.#errors);
      for (const wake of this.#waiters.splice(0)) wake();
      return (code as number | null) ?? (signal === null ? -1 : 1_000);
    });
  }

  /** Waits until the whole output matches the pattern and returns it. */
  async waitForOutput(pattern: RegExp, where: 'output' | 'errors' = 'output'): Promise<string> {
    for (;;) {
      const text = where === 'output' ? this.#output : this.#errors;
      if (pattern.test(text)) return text;
      if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
        throw new Error(`The command ended without ${String(pattern)} in its output: ${text}`);
      }
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  /** Closes the reading end of the output. */
  closeOutput(): void {
    this.#process.stdout!.destroy();
  }

  async waitUntilEnded(): Promise<CommandResult> {
    const code = await this.#ended;
    return { code, output: this.#output, errors: this.#errors };
  }
}
