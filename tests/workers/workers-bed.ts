/** A node with two workers, as operators run it, and a kept connection to each of them. */

import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import type { DatabaseKind, TestDatabase } from '../support/databases.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator, NodeProcess } from '../many-nodes/node-process.ts';
import { RawConnection, type RawResponse } from '../support/raw-connection.ts';

const workers = 2;

export class WorkersBed {
  readonly database: TestDatabase;
  readonly node: NodeProcess;
  readonly #connections: RawConnection[] = [];

  static async start(kind: DatabaseKind, settings: Record<string, string> = {}): Promise<WorkersBed> {
    const database = await kind.createForServer();
    const node = await NodeProcess.start({
      databaseUrl: database.url,
      settings: { WORKERS: String(workers), ...settings },
    });
    return new WorkersBed(database, node);
  }

  private constructor(database: TestDatabase, node: NodeProcess) {
    this.database = database;
    this.node = node;
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.close();
    await this.node.stop();
    await this.database.remove();
  }

  async connect(): Promise<RawConnection> {
    const connection = await RawConnection.open(this.node.url);
    this.#connections.push(connection);
    return connection;
  }

  async logIn(credentials = administrator): Promise<LoginResponse> {
    const connection = await RawConnection.open(this.node.url);
    const answer = await connection.exchange(post('/login', credentials));
    connection.close();
    assert.equal(answer?.status, 200);
    return JSON.parse(answer.body) as LoginResponse;
  }

  /** One connection to each worker, in their order. */
  async connectToEach(authToken: string): Promise<RawConnection[]> {
    const found = new Map<number, RawConnection>();
    const spare: RawConnection[] = [];
    while (found.size < workers) {
      const connection = await this.connect();
      const place = await workerOf(connection, authToken);
      if (found.has(place)) spare.push(connection);
      else found.set(place, connection);
    }
    for (const connection of spare) connection.close();
    return [...found].sort(([one], [other]) => one - other).map(([, connection]) => connection);
  }

  /** Opens sockets until one is connected to this worker. */
  async socketTo(place: number, authToken: string): Promise<SocketClient> {
    for (;;) {
      const client = await SocketClient.connect(this.node.url, authToken);
      client.start('where', '{server{node}}');
      const { payload } = await client.next();
      await client.next();
      if (placeIn(JSON.stringify(payload)) === place) return client;
      // Closed before the next attempt, because a user has a limited number of sockets.
      await client.close();
    }
  }

  /** The process of each worker that has logged something, the latest of each place. */
  get processes(): number[] {
    const found = new Map<number, number>();
    for (const [, pid, place] of this.node.log.matchAll(/"pid":(\d+),[^\n]*?"worker":(\d+)/g)) {
      if (Number(pid) !== this.node.pid) found.set(Number(place), Number(pid));
    }
    return [...found].sort(([one], [other]) => one - other).map(([, pid]) => pid);
  }
}

export async function workerOf(connection: RawConnection, authToken: string): Promise<number> {
  const answer = await connection.exchange(post('/graphql', { query: '{server{node}}' }, authToken));
  return placeIn(answer?.body ?? '');
}

export async function ask(
  connection: RawConnection,
  query: string,
  authToken: string,
  variables: Record<string, unknown> = {},
): Promise<RawResponse> {
  const answer = await connection.exchange(post('/graphql', { query, variables }, authToken));
  assert.ok(answer, 'the connection was closed');
  return answer;
}

export function post(path: string, value: object, authToken?: string): string {
  const body = JSON.stringify(value);
  return [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    ...(authToken === undefined ? [] : [`Authorization: Bearer ${authToken}`]),
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

/** Whether the process is there. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function placeIn(text: string): number {
  return Number(/worker (\d+) of \d+/.exec(text)![1]);
}
