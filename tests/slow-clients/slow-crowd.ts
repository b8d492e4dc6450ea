/** Clients that each send a byte every few seconds and record how the server ends their connections. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What a slow client sends first and how it continues. */
export interface SlowBehavior {
  readonly name: string;
  readonly start: string;
  readonly drip: string;
}

export function slowBehaviors(authToken: string): SlowBehavior[] {
  const head = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
  const authorized = `${head('/graphql')}Authorization: Bearer ${authToken}\r\n`;
  return [
    { name: 'silent', start: '', drip: '' },
    { name: 'during its headers', start: `${head('/login')}X-Slow: `, drip: 'x' },
    {
      name: 'during a login',
      start: `${head('/login')}Content-Length: 4000\r\n\r\n{"username":"`,
      drip: 'x',
    },
    {
      name: 'during a query',
      start: `${authorized}Content-Length: 4000000\r\n\r\n{"query":"`,
      drip: 'x',
    },
    {
      name: 'during a query in chunks',
      start: `${authorized}Transfer-Encoding: chunked\r\n\r\n`,
      drip: '1\r\nx\r\n',
    },
  ];
}

/** The status of the response, or that the connection was closed without one. */
export type SlowEnd = `${number}` | 'closed without a response';

export class SlowCrowd {
  readonly #sockets: Socket[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly ends: Promise<SlowEnd>[] = [];

  static async open(
    url: string,
    { clients, everyMs, behaviors }: { clients: number; everyMs: number; behaviors: readonly SlowBehavior[] },
  ): Promise<SlowCrowd> {
    const crowd = new SlowCrowd();
    for (let index = 0; index < clients; index++) {
      await crowd.#add(url, behaviors[index % behaviors.length]!, everyMs, (index / clients) * everyMs);
    }
    return crowd;
  }

  get openCount(): number {
    return this.#sockets.filter((socket) => !socket.closed).length;
  }

  close(): void {
    this.#timers.forEach((timer) => clearTimeout(timer));
    this.#sockets.forEach((socket) => socket.destroy());
  }

  async #add(url: string, { start, drip }: SlowBehavior, everyMs: number, afterMs: number): Promise<void> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    this.ends.push(
      once(socket, 'close').then(() => (received.slice(9, 12) || 'closed without a response') as SlowEnd),
    );
    await once(socket, 'connect');
    this.#sockets.push(socket);
    socket.write(start);
    const send = () => {
      if (drip && socket.writable) socket.write(drip);
      this.#timers.push(setTimeout(send, everyMs));
    };
    this.#timers.push(setTimeout(send, afterMs));
  }
}
