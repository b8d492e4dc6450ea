/** A node with two workers, as operators run it, with a persistent connection to each. */

import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import type { DatabaseKind, TestDatabase } from '../support/databases.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator, NodeProcess } from '../many-nodes/node-process.ts';
import { RawConnection, type RawResponse } from '../support/raw-connection.ts';

const workers = 2;

export class WorkersTestbed {
  readonly database: TestDatabase;
  readonly node: NodeProcess;
  readonly #connections: RawConnection[] = [];

  static async start(kind: DatabaseKind, settings: Record<string, string> = {}): Promise<WorkersTestbed> {
    const database = await kind.createForServer();
    const node = await NodeProcess.start({
      databaseUrl: database.url,
      settings: { WORKERS: String(workers), ...settings },
    });
    return new WorkersTestbed(database, node);
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

  /** Opens one connection to each worker. Returns the connections in the order of the worker numbers. */
  async connectToEach(authToken: string): Promise<RawConnection[]> {
    const byWorker = new Map<number, RawConnection>();
    const extraConnections: RawConnection[] = [];
    while (byWorker.size < workers) {
      const connection = await this.connect();
      const worker = await workerOf(connection, authToken);
      if (byWorker.has(worker)) extraConnections.push(connection);
      else byWorker.set(worker, connection);
    }
    for (const connection of extraConnections) connection.close();
    return [...byWorker].sort(([one], [other]) => one - other).map(([, connection]) => connection);
  }

  /** Opens sockets until one is connected to this worker. */
  async openSocketTo(worker: number, authToken: string): Promise<SocketClient> {
    for (;;) {
      const client = await SocketClient.connect(this.node.url, authToken);
      client.start('where', '{server{node}}');
      const { payload } = await client.next();
      await client.next();
      if (readWorkerNumber(JSON.stringify(payload)) === worker) return client;
      // Closes the socket before the next attempt, because a user has a limited number of sockets.
      await client.close();
    }
  }

  /**
   * The process ids of the workers, in the order of their numbers. Contains only workers that have written a
   * log line.
   */
  get workerPids(): number[] {
    const byWorker = new Map<number, number>();
    for (const [, pid, worker] of this.node.log.matchAll(/"pid":(\d+),[^\n]*?"worker":(\d+)/g)) {
      if (Number(pid) !== this.node.pid) byWorker.set(Number(worker), Number(pid));
    }
    return [...byWorker].sort(([one], [other]) => one - other).map(([, pid]) => pid);
  }
}

export async function workerOf(connection: RawConnection, authToken: string): Promise<number> {
  const answer = await connection.exchange(post('/graphql', { query: '{server{node}}' }, authToken));
  return readWorkerNumber(answer?.body ?? '');
}

export async function sendQuery(
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

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function readWorkerNumber(text: string): number {
  return Number(/worker (\d+) of \d+/.exec(text)![1]);
}
