/** A server in a process and a temporary folder of its own, and a plain client for it. */

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoginResponse } from '@espalier/contract';
import { Child } from './child.ts';
import type { Memory, ServeInput, Usage } from './serve.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export class ServerProcess {
  readonly #child: Child;
  readonly #folder: string;
  readonly #signal: AbortSignal;
  #url = '';
  #authToken = '';

  /** Leaves nothing behind if it does not start. */
  static async start(signal: AbortSignal): Promise<ServerProcess> {
    const server = new ServerProcess(signal);
    try {
      await server.#begin();
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  private constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.#folder = mkdtempSync(join(tmpdir(), 'espalier-bench-'));
    this.#child = new Child({ file: 'serve.ts', execArgv: ['--expose-gc'], signal });
  }

  get url(): string {
    return this.#url;
  }

  /** The administrator's. */
  get authToken(): string {
    return this.#authToken;
  }

  usage(): Promise<Usage> {
    return this.#child.ask('usage');
  }

  memory(): Promise<Memory> {
    return this.#child.ask('memory');
  }

  async stop(): Promise<void> {
    await this.#child.stop();
    // It has done so itself, unless it was killed.
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async logIn(credentials: Credentials): Promise<string> {
    return (await this.#post<LoginResponse>('/login', credentials)).authToken;
  }

  /** Asks as the administrator. */
  async ask<Data>(query: string, variables: Record<string, unknown> = {}): Promise<Data> {
    type Body = { data: Data; errors?: unknown };
    const { data, errors } = await this.#post<Body>('/graphql', { query, variables }, this.#authToken);
    if (errors) throw new Error(`${query}: ${JSON.stringify(errors)}`);
    return data;
  }

  async #begin(): Promise<void> {
    const administrator = { username: 'admin', password: `correct horse ${randomUUID()}` };
    const input: ServeInput = { folder: this.#folder, ...administrator };
    this.#url = await this.#child.ask<string>('start', input);
    this.#authToken = await this.logIn(administrator);
  }

  async #post<T>(path: string, body: unknown, authToken?: string): Promise<T> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(authToken && { authorization: `Bearer ${authToken}` }),
      },
      body: JSON.stringify(body),
      signal: this.#signal,
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
}
