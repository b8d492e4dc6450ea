/** Runs as a child process: attacks a server as one user until the parent process stops it. */

import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { attacks, ordinaryQueries, type HttpAttack, type SocketAttack } from './abuse-attacks.ts';
import { serveParent } from '../../bench/child-handlers.ts';

export interface AbuseInput {
  readonly url: string;
  readonly authToken: string;
  /** Undefined for the ordinary queries, which are the baseline. */
  readonly attack: string | undefined;
}

/** The number of responses by status; for sockets, the number of events. */
export type AttackCounts = Readonly<Record<string, number>>;

/** The login throttle counts attempts by address, so the attacker uses its own address. */
const localAddress = '127.0.0.2';
const pauseAfterRefusalMs = 5;

let isAttacking = false;
let statuses: Record<string, number> = {};
let attackLoops: Promise<unknown> = Promise.resolve();
let sockets: WebSocket[] = [];
let sentCount = 0;
let agent: Agent | undefined;

serveParent(
  {
    async begin({ url, authToken, attack: name }: AbuseInput): Promise<void> {
      isAttacking = true;
      statuses = {};
      const attack = name === undefined ? ordinaryQueries : attacks[name]!;
      if (attack.transport === 'socket') await subscribe(attack, url, authToken);
      else attackLoops = attackByHttp(attack, url, authToken);
    },

    /** Does not wait for the responses, like an attacker. */
    async end(): Promise<AttackCounts> {
      isAttacking = false;
      for (const socket of sockets) socket.terminate();
      sockets = [];
      agent?.destroy();
      await attackLoops;
      return statuses;
    },
  },
  () => undefined,
);

async function attackByHttp(attack: HttpAttack, url: string, authToken: string): Promise<void> {
  const own = new Agent({ keepAlive: true, maxSockets: attack.connections });
  agent = own;
  const loop = async () => {
    while (isAttacking) {
      const status = await send(attack, { url, authToken, agent: own, body: attack.bodyOf(sentCount++) });
      if (isAttacking) count(status);
      if (status !== '200') await sleep(pauseAfterRefusalMs);
    }
  };
  await Promise.all(Array.from({ length: attack.connections }, loop));
}

async function send(
  { path, isAnonymous }: HttpAttack,
  { url, authToken, agent: own, body }: { url: string; authToken: string; agent: Agent; body: string },
): Promise<string> {
  const clientRequest = request(url + path, {
    method: 'POST',
    agent: own,
    localAddress,
    headers: {
      'content-type': 'application/json',
      ...(!isAnonymous && { authorization: `Bearer ${authToken}` }),
    },
  });
  clientRequest.end(body);
  try {
    const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
    const [firstChunk] = (await response.toArray()) as Buffer[];
    const isRefused = firstChunk?.subarray(0, 9).toString() === '{"errors"';
    return isRefused ? `${response.statusCode} with errors` : String(response.statusCode);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'failed';
  }
}

async function subscribe(attack: SocketAttack, url: string, authToken: string): Promise<void> {
  for (let number = 0; number < attack.sockets; number++) {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws', {
      localAddress,
    });
    sockets.push(socket);
    socket.on('error', () => count('failed'));
    await once(socket, 'open');
    socket.send(
      JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${authToken}` } }),
    );
    await once(socket, 'message');
    socket.on('message', () => count('frames'));
    for (let id = 0; id < attack.subscriptionsPerSocket; id++) {
      socket.send(JSON.stringify({ id: String(id), type: 'subscribe', payload: { query: attack.query } }));
    }
  }
}

function count(status: string): void {
  statuses[status] = (statuses[status] ?? 0) + 1;
}
