/** Forwards bytes to a server until it is silenced, like a network that is cut without notice. */

import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

export class SilentRelay {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  /** Opens a relay on another port to the server at this URL. */
  static async open(url: string): Promise<SilentRelay> {
    const { hostname, port } = new URL(url);
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket
          .on('error', () => undefined)
          .on('close', () => client.destroy(upstream.destroy() && undefined));
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SilentRelay(server, sockets, url);
  }

  private constructor(server: Server, sockets: Set<Socket>, url: string) {
    this.#server = server;
    this.#sockets = sockets;
    const relayUrl = new URL(url);
    relayUrl.hostname = '127.0.0.1';
    relayUrl.port = String((server.address() as AddressInfo).port);
    this.url = relayUrl.href;
  }

  /** Keeps connections open and stops forwarding. */
  silence(): void {
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
