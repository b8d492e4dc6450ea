/** A server in a process of its own, so that its CPU time is told from that of whoever asks it. */

import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoginResponse } from '@espalier/contract';
import type { Ask } from './estate.ts';

export class EstateServer {
  readonly #process: ChildProcess;
  readonly #url: string;
  #authToken = '';

  static async start(databaseUrl: string): Promise<EstateServer> {
    const child = fork(fileURLToPath(new URL('serve-estate.ts', import.meta.url)));
    const administrator = { username: 'admin', password: `correct horse ${randomUUID()}` };
    child.send({ databaseUrl, ...administrator });
    const server = new EstateServer(child, await nextMessage<string>(child));
    server.#authToken = await server.logIn(administrator);
    return server;
  }

  private constructor(child: ChildProcess, url: string) {
    this.#process = child;
    this.#url = url;
  }

  async stop(): Promise<void> {
    this.#process.disconnect();
    await once(this.#process, 'exit');
  }

  /** What the process has used since its start. */
  async cpuMicroseconds(): Promise<number> {
    this.#process.send('cpu');
    return nextMessage<number>(this.#process);
  }

  async logIn(credentials: { username: string; password: string }): Promise<string> {
    return (await this.#post<LoginResponse>('/login', credentials)).authToken;
  }

  readonly ask: Ask = async <Data>(
    query: string,
    variables: Record<string, unknown> = {},
    authToken = this.#authToken,
  ) => {
    const body = { query, variables };
    const { data, errors } = await this.#post<{ data: Data; errors?: unknown }>('/graphql', body, authToken);
    if (errors) throw new Error(`${query}: ${JSON.stringify(errors)}`);
    return data;
  };

  async #post<T>(path: string, body: unknown, authToken?: string): Promise<T> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(authToken && { authorization: `Bearer ${authToken}` }),
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
}

async function nextMessage<T>(child: ChildProcess): Promise<T> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const stopped = once(child, 'exit', { signal }).then(() => {
    throw new Error('The server has stopped.');
  });
  stopped.catch(() => undefined);
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), stopped])) as [T];
    return message;
  } finally {
    waiting.abort();
  }
}
