/**
 * Runs a file in a child process, so that its CPU time is measured separately. The child handles one call at a time.
 */

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Call {
  readonly name: string;
  readonly input: unknown;
}

export type Reply = { readonly value: unknown } | { readonly error: string };

export interface ChildOptions {
  /** The path of the child's module, relative to this folder. */
  readonly file: string;
  readonly execArgv?: readonly string[];
  readonly signal: AbortSignal;
}

const exitTimeoutMs = 10_000;

export class Child {
  readonly #process: ChildProcess;
  readonly #options: ChildOptions;
  readonly #exit: Promise<unknown>;

  constructor(options: ChildOptions) {
    this.#options = options;
    this.#process = fork(fileURLToPath(new URL(options.file, import.meta.url)), {
      execArgv: [...process.execArgv, ...(options.execArgv ?? [])],
      // Standard output is for the table of results only.
      stdio: ['ignore', 2, 2, 'ipc'],
    });
    this.#exit = once(this.#process, 'exit');
  }

  get pid(): number {
    return this.#process.pid!;
  }

  async call<Result = void>(name: string, input?: unknown): Promise<Result> {
    const callEnd = new AbortController();
    const signal = AbortSignal.any([callEnd.signal, this.#options.signal]);
    this.#options.signal.throwIfAborted();
    if (!this.#process.connected) throw this.#createStopError();
    const message = once(this.#process, 'message', { signal });
    const stop = once(this.#process, 'exit', { signal }).then(() => {
      throw this.#createStopError();
    });
    try {
      this.#process.send({ name, input } satisfies Call);
      const [reply] = (await Promise.race([message, stop])) as [Reply];
      if ('error' in reply) throw new Error(`${this.#options.file}, ${name}: ${reply.error}`);
      return reply.value as Result;
    } catch (error) {
      this.#options.signal.throwIfAborted();
      throw error;
    } finally {
      callEnd.abort();
      stop.catch(() => undefined);
    }
  }

  /** The child exits when the channel closes. If it does not, it is killed. */
  async stop(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    const deadline = setTimeout(() => this.#process.kill('SIGKILL'), exitTimeoutMs);
    await this.#exit;
    clearTimeout(deadline);
  }

  #createStopError(): Error {
    return new Error(`${this.#options.file} has stopped.`);
  }
}
