/** A proxy that drops requests, drops, delays and truncates responses, and closes sockets. A seed determines the faults. */

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
  /** The percentage of requests with a fault. */
  readonly percent: number;
}

type Fault =
  | 'reply lost'
  | 'reply cut'
  | 'reply delayed'
  | 'request lost'
  | 'never answered'
  | 'proxy is busy';

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
const maxDelayMs = 600;

export class BadNetwork {
  readonly #server: Server;
  readonly #options: BadNetworkOptions;
  readonly #sockets = new Set<Duplex>();
  readonly #upgraded = new Set<Duplex>();
  /** The URL of the server, which may change. */
  target: string;
  /** Whether to forward all requests without faults. */
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
      (incoming, outgoing) => void this.#handleRequest(incoming, outgoing).catch(() => outgoing.destroy()),
    );
    this.#server.on('upgrade', (incoming: IncomingMessage, clientSocket: Socket, head: Buffer) =>
      this.#forwardSocket(incoming, clientSocket, head),
    );
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Destroys all sockets without a close frame. */
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

  async #handleRequest(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { random, tally, percent } = this.#options;
    const fault = !this.isCalm && random.chance(percent / 100) ? random.pick(faults) : undefined;
    if (fault) {
      tally.count(`network: ${fault}`);
      if (incoming.url === '/login/refresh') tally.count('network: fault during a refresh');
    }
    const body = Buffer.concat((await incoming.toArray()) as Buffer[]);
    if (fault === 'request lost') return void outgoing.destroy();
    if (fault === 'proxy is busy')
      return void outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502</h1>');
    const { status, headers, text } = await this.#forward(incoming, body);
    // The client gets no response and must time out.
    if (fault === 'never answered') return;
    if (fault === 'reply lost') return void outgoing.destroy();
    if (fault === 'reply delayed') await delay(random.below(maxDelayMs));
    outgoing.writeHead(status, headers);
    if (fault !== 'reply cut') return void outgoing.end(text);
    outgoing.write(text.subarray(0, Math.floor(text.length / 2)), () => outgoing.destroy());
  }

  async #forward(incoming: IncomingMessage, body: Buffer) {
    const { hostname, port } = new URL(this.target);
    const { url: path, method, headers } = incoming;
    const forwarded = request({
      hostname,
      port,
      path,
      method,
      headers: { ...headers, host: `${hostname}:${port}` },
    });
    forwarded.end(body);
    const [response] = (await once(forwarded, 'response')) as [IncomingMessage];
    return {
      status: response.statusCode!,
      headers: response.headers,
      text: Buffer.concat((await response.toArray()) as Buffer[]),
    };
  }

  #forwardSocket(incoming: IncomingMessage, clientSocket: Socket, head: Buffer): void {
    const { hostname, port } = new URL(this.target);
    const serverSocket = connect(Number(port), hostname);
    const lines = incoming.rawHeaders.flatMap((name, index, all) =>
      index % 2 ? [] : [`${name}: ${all[index + 1]}`],
    );
    serverSocket.write(`GET ${incoming.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    serverSocket.write(head);
    clientSocket.pipe(serverSocket).pipe(clientSocket);
    this.#upgraded.add(clientSocket);
    for (const socket of [clientSocket, serverSocket]) {
      socket
        .on('error', () => undefined)
        .on('close', () => {
          this.#upgraded.delete(clientSocket);
          clientSocket.destroy();
          serverSocket.destroy();
        });
    }
  }
}
