/** A server in its own process and temporary folder, with a plain client. */

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient, type Credentials } from '../support/api-client.ts';
import { Child } from '../../bench/child.ts';
import type { Memory, ServeInput, Usage } from './serve.ts';

export class ServerProcess {
  readonly #child: Child;
  readonly #folder: string;
  readonly #signal: AbortSignal;
  #client = new ApiClient('');
  #authToken = '';

  /** Starts a server. Removes everything if that fails. */
  static async start(signal: AbortSignal, settings: ServeInput['settings'] = {}): Promise<ServerProcess> {
    const server = new ServerProcess(signal);
    try {
      await server.#begin(settings);
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  private constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.#folder = mkdtempSync(join(tmpdir(), 'espalier-bench-'));
    this.#child = new Child({ file: '../tests/measured-server/serve.ts', execArgv: ['--expose-gc'], signal });
  }

  get url(): string {
    return this.#client.url;
  }

  /** The administrator's token. */
  get authToken(): string {
    return this.#authToken;
  }

  usage(): Promise<Usage> {
    return this.#child.call('usage');
  }

  memory(): Promise<Memory> {
    return this.#child.call('memory');
  }

  async stop(): Promise<void> {
    await this.#child.stop();
    // The child process removes the folder itself, unless it was killed.
    rmSync(this.#folder, { recursive: true, force: true });
  }

  logIn(credentials: Credentials): Promise<string> {
    return this.#client.logIn(credentials);
  }

  /** Runs a query as the administrator. */
  query<Data>(query: string, variables: Record<string, unknown> = {}): Promise<Data> {
    return this.#client.query<Data>(query, variables, this.#authToken);
  }

  async #begin(settings: ServeInput['settings']): Promise<void> {
    const administrator = { username: 'admin', password: `correct horse ${randomUUID()}` };
    const input: ServeInput = { folder: this.#folder, ...administrator, settings };
    this.#client = new ApiClient(await this.#child.call<string>('start', input), this.#signal);
    this.#authToken = await this.logIn(administrator);
  }
}
