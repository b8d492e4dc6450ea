/**
 * A network that loses, delays and cuts what a server answers, and closes its sockets: a relay that knows where an answer
 * begins and ends. What it does is decided by a seed.
 */

import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../many-nodes/chaos/random.ts';
import type { Tally } from '../../many-nodes/chaos/tally.ts';

export interface BadNetworkOptions {
  readonly random: Random;
  readonly tally: Tally;
  /** How many of a hundred requests something happens to. */
  readonly percent: number;
}

type Fault =
  'reply lost' | 'reply cut' | 'reply delayed' | 'request lost' | 'never answered' | 'proxy is busy';

const faults: readonly Fault[] = [
  'reply lost',
  'reply lost',
  'reply cut',
  'reply delayed',
  'reply delayed',
  'request lost',
  'never answered',
  'proxy is busy',
];
const longestDelayMs = 600;

export class BadNetwork {
  readonly #server: Server;
  readonly #options: BadNetworkOptions;
  readonly #sockets = new Set<Duplex>();
  readonly #upgraded = new Set<Duplex>();
  /** The server behind it; may move. */
  target: string;
  isCalm = false;

  static async open(target: string, options: BadNetworkOptions): Promise<BadNetwork> {
    const network = new BadNetwork(target, options);
    network.#server.listen(0, '127.0.0.1');
    await once(network.#server, 'listening');
    return network;
  }

  private constructor(target: string, options: BadNetworkOptions) {
    this.target = target;
    this.#options = options;
    this.#server = createServer(
      (asked, answer) => void this.#pass(asked, answer).catch(() => answer.destroy()),
    );
    this.#server.on('upgrade', (asked: IncomingMessage, near: Socket, head: Buffer) =>
      this.#passSocket(asked, near, head),
    );
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** All of them, without a word. */
  closeSockets(): void {
    for (const socket of this.#upgraded) {
      this.#options.tally.count('network: socket closed');
      socket.destroy();
    }
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { random, tally, percent } = this.#options;
    const fault = !this.isCalm && random.chance(percent / 100) ? random.pick(faults) : undefined;
    if (fault) {
      tally.count(`network: ${fault}`);
      if (asked.url === '/login/refresh') tally.count('network: something happened to a refresh');
    }
    const body = Buffer.concat((await asked.toArray()) as Buffer[]);
    if (fault === 'request lost') return void answer.destroy();
    if (fault === 'proxy is busy')
      return void answer.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502</h1>');
    const { status, headers, text } = await this.#forward(asked, body);
    // Whoever waits for it gives up by itself.
    if (fault === 'never answered') return;
    if (fault === 'reply lost') return void answer.destroy();
    if (fault === 'reply delayed') await delay(random.below(longestDelayMs));
    answer.writeHead(status, headers);
    if (fault !== 'reply cut') return void answer.end(text);
    answer.write(text.subarray(0, Math.floor(text.length / 2)), () => answer.destroy());
  }

  async #forward(asked: IncomingMessage, body: Buffer) {
    const { hostname, port } = new URL(this.target);
    const { url: path, method, headers } = asked;
    const far = request({
      hostname,
      port,
      path,
      method,
      headers: { ...headers, host: `${hostname}:${port}` },
    });
    far.end(body);
    const [answer] = (await once(far, 'response')) as [IncomingMessage];
    return {
      status: answer.statusCode!,
      headers: answer.headers,
      text: Buffer.concat((await answer.toArray()) as Buffer[]),
    };
  }

  #passSocket(asked: IncomingMessage, near: Socket, head: Buffer): void {
    const { hostname, port } = new URL(this.target);
    const far = connect(Number(port), hostname);
    const lines = asked.rawHeaders.flatMap((name, place, all) =>
      place % 2 ? [] : [`${name}: ${all[place + 1]}`],
    );
    far.write(`GET ${asked.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    far.write(head);
    near.pipe(far).pipe(near);
    this.#upgraded.add(near);
    for (const socket of [near, far]) {
      socket
        .on('error', () => undefined)
        .on('close', () => {
          this.#upgraded.delete(near);
          near.destroy();
          far.destroy();
        });
    }
  }
}
