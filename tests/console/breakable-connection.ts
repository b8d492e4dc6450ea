/** A connection between a browser and a server that can be disconnected and reconnected. */

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export class BreakableConnection {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((clientSocket) => {
    const { port, hostname } = new URL(this.#target);
    const serverSocket = connect(Number(port), hostname);
    clientSocket.pipe(serverSocket).pipe(clientSocket);
    for (const [socket, other] of [
      [clientSocket, serverSocket],
      [serverSocket, clientSocket],
    ] as const) {
      this.#sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
    }
  });
  readonly #target: string;
  #port = 0;

  static async open(target: string): Promise<BreakableConnection> {
    const connection = new BreakableConnection(target);
    await connection.reconnect();
    return connection;
  }

  private constructor(target: string) {
    this.#target = target;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async reconnect(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  disconnect(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
