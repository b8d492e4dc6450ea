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
    const server = createServer((near) => {
      const far = connect(Number(port), hostname);
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) {
        sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => near.destroy(far.destroy() && undefined));
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SilentRelay(server, sockets, url);
  }

  private constructor(server: Server, sockets: Set<Socket>, url: string) {
    this.#server = server;
    this.#sockets = sockets;
    const here = new URL(url);
    here.hostname = '127.0.0.1';
    here.port = String((server.address() as AddressInfo).port);
    this.url = here.href;
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
