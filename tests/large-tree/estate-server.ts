/** A server in its own process, so that its CPU time is separate from that of the clients. */

import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ApiClient, type Credentials } from '../support/api-client.ts';
import type { RunQuery } from './estate.ts';

export class EstateServer {
  readonly #process: ChildProcess;
  readonly #client: ApiClient;
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
    this.#client = new ApiClient(url);
  }

  async stop(): Promise<void> {
    this.#process.disconnect();
    await once(this.#process, 'exit');
  }

  /** The CPU time of the process since its start. */
  async cpuMicroseconds(): Promise<number> {
    this.#process.send('cpu');
    return nextMessage<number>(this.#process);
  }

  logIn(credentials: Credentials): Promise<string> {
    return this.#client.logIn(credentials);
  }

  readonly query: RunQuery = (query, variables = {}, authToken = this.#authToken) =>
    this.#client.query(query, variables, authToken);
}

async function nextMessage<T>(child: ChildProcess): Promise<T> {
  const abortController = new AbortController();
  const { signal } = abortController;
  const processExit = once(child, 'exit', { signal }).then(() => {
    throw new Error('The server has stopped.');
  });
  processExit.catch(() => undefined);
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), processExit])) as [T];
    return message;
  } finally {
    abortController.abort();
  }
}
