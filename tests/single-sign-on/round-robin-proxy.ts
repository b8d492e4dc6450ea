/** A load balancer without sticky sessions: it sends each request to the next node. */

import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export class RoundRobinProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The URLs of the nodes. Set them before the first request. */
  nodes: readonly string[] = [];
  #count = 0;

  static async start(): Promise<RoundRobinProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new RoundRobinProxy(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (incoming, response) => this.#forward(incoming, response));
    server.on('upgrade', (incoming, socket: Socket, head) => this.#upgrade(incoming, socket, head));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #nextNode(): URL {
    return new URL(this.nodes[this.#count++ % this.nodes.length]!);
  }

  /** Keeps the Host header, so that the nodes see the public address. */
  #forward(incoming: IncomingMessage, response: ServerResponse): void {
    const { hostname, port } = this.#nextNode();
    const { method, url: path, headers } = incoming;
    const outgoing = request({ hostname, port, method, path, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  #upgrade({ method, url, rawHeaders }: IncomingMessage, socket: Socket, head: Buffer): void {
    const { hostname, port } = this.#nextNode();
    const other = connect(Number(port), hostname);
    const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
    other.write(`${method} ${url} HTTP/1.1\r\n${lines}\r\n`);
    other.write(head);
    socket.pipe(other).pipe(socket);
    for (const [one, opposite] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.#sockets.delete(one);
        opposite.destroy();
      });
    }
  }
}
