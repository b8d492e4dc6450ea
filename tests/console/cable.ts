/** A cable between a browser and a server, which can be pulled out and plugged in again. */

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export class Cable {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((near) => {
    const { port, hostname } = new URL(this.#target);
    const far = connect(Number(port), hostname);
    near.pipe(far).pipe(near);
    for (const [socket, other] of [
      [near, far],
      [far, near],
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

  static async lay(target: string): Promise<Cable> {
    const cable = new Cable(target);
    await cable.plugIn();
    return cable;
  }

  private constructor(target: string) {
    this.#target = target;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async plugIn(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  pull(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
