/** Clients that send a byte every few seconds, each at its own moment, and note how the server ends them. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What a slow client has sent when it begins to be slow, and how it goes on. */
export interface SlowManner {
  readonly name: string;
  readonly start: string;
  readonly drip: string;
}

export function slowManners(authToken: string): SlowManner[] {
  const head = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
  const authorized = `${head('/graphql')}Authorization: Bearer ${authToken}\r\n`;
  return [
    { name: 'silent', start: '', drip: '' },
    { name: 'amid its headers', start: `${head('/login')}X-Slow: `, drip: 'x' },
    { name: 'amid a login', start: `${head('/login')}Content-Length: 4000\r\n\r\n{"username":"`, drip: 'x' },
    {
      name: 'amid a query',
      start: `${authorized}Content-Length: 4000000\r\n\r\n{"query":"`,
      drip: 'x',
    },
    {
      name: 'amid a query in chunks',
      start: `${authorized}Transfer-Encoding: chunked\r\n\r\n`,
      drip: '1\r\nx\r\n',
    },
  ];
}

/** How one ended: the status it was told, or that it was only hung up on. */
export type SlowEnd = `${number}` | 'hung up';

export class SlowCrowd {
  readonly #sockets: Socket[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly ends: Promise<SlowEnd>[] = [];

  static async open(
    url: string,
    { clients, everyMs, manners }: { clients: number; everyMs: number; manners: readonly SlowManner[] },
  ): Promise<SlowCrowd> {
    const crowd = new SlowCrowd();
    for (let place = 0; place < clients; place++) {
      await crowd.#add(url, manners[place % manners.length]!, everyMs, (place / clients) * everyMs);
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

  async #add(url: string, { start, drip }: SlowManner, everyMs: number, afterMs: number): Promise<void> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    let told = '';
    socket.setEncoding('latin1').on('data', (text: string) => (told += text));
    this.ends.push(once(socket, 'close').then(() => (told.slice(9, 12) || 'hung up') as SlowEnd));
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
