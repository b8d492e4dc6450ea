/**
 * A proxy that pools transactions, like PgBouncer: each transaction of a client uses the server connection that was
 * idle for the longest time. So a transaction does not find the connection state that the last one left.
 */

import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import pg from 'pg';

/** https://www.postgresql.org/docs/current/protocol-message-formats.html */
const readyForQueryType = 0x5a;
const queryType = 0x51;
const syncType = 0x53;
const idleState = 0x49;

export class TransactionPooler {
  readonly #server: Server;
  readonly #url: URL;
  readonly #sockets: Socket[];
  readonly #idleSockets: Socket[];
  readonly #queue: ((upstream: Socket) => void)[] = [];
  readonly #clients = new Set<Socket>();

  static async start(url: string, size: number): Promise<TransactionPooler> {
    const upstream = await Promise.all(Array.from({ length: size }, () => connectUpstream(url)));
    const pooler = new TransactionPooler(url, upstream);
    pooler.#server.listen(0, '127.0.0.1');
    await once(pooler.#server, 'listening');
    return pooler;
  }

  private constructor(url: string, upstream: Socket[]) {
    this.#url = new URL(url);
    this.#sockets = upstream;
    this.#idleSockets = [...upstream];
    this.#server = createServer((client) => this.#serve(client));
  }

  get url(): string {
    const url = new URL(this.#url);
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  stop(): void {
    this.#server.close();
    for (const socket of [...this.#clients, ...this.#sockets]) socket.destroy();
  }

  #serve(client: Socket): void {
    this.#clients.add(client);
    let isStarted = false;
    let upstream: Socket | undefined;
    let isWaiting = false;
    let unanswered = 0;
    let toSend: Buffer[] = [];
    const fromServer = new Frames((frame) => {
      if (frame[0] === readyForQueryType) unanswered--;
      client.write(frame);
      if (frame[0] === readyForQueryType && unanswered === 0 && frame[5] === idleState) release();
    });
    const onData = (data: Buffer) => fromServer.push(data);
    const release = () => {
      upstream?.off('data', onData);
      if (upstream) this.#release(upstream);
      upstream = undefined;
    };
    const flush = () => {
      for (const frame of toSend) {
        if (frame[0] === queryType || frame[0] === syncType) unanswered++;
        upstream!.write(frame);
      }
      toSend = [];
    };
    const fromClient = new Frames((frame) => {
      toSend.push(frame);
      if (upstream) flush();
      else if (!isWaiting) {
        isWaiting = true;
        this.#acquire((free) => {
          isWaiting = false;
          upstream = free.on('data', onData);
          flush();
        });
      }
    });
    client.setNoDelay();
    client.on('error', () => undefined);
    client.on('close', () => this.#clients.delete(client));
    client.on('data', (data) => {
      if (isStarted) return fromClient.push(data);
      isStarted = true;
      refuseUnknown(data);
      client.write(greeting());
    });
  }

  #acquire(take: (upstream: Socket) => void): void {
    const free = this.#idleSockets.shift();
    if (free) take(free);
    else this.#queue.push(take);
  }

  #release(upstream: Socket): void {
    const next = this.#queue.shift();
    if (next) next(upstream);
    else this.#idleSockets.push(upstream);
  }
}

/** Splits a stream into messages. */
class Frames {
  readonly #onFrame: (frame: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onFrame: (frame: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  push(data: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      const length = this.#rest.length < 5 ? Infinity : 1 + this.#rest.readUInt32BE(1);
      if (this.#rest.length < length) return;
      const frame = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      this.#onFrame(frame);
    }
  }
}

/** Returns a logged-in connection as a raw socket. */
async function connectUpstream(url: string): Promise<Socket> {
  const client = new pg.Client(url);
  await client.connect();
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.removeAllListeners('data');
  stream.on('error', () => undefined);
  client.on('error', () => undefined);
  return stream;
}

/** PgBouncer refuses startup parameters that it cannot track. */
function refuseUnknown(startup: Buffer): void {
  const names = startup.subarray(8).toString().split('\0');
  const unknown = names.find((name) => /timeout|^options$/.test(name));
  if (unknown) throw new Error(`unsupported startup parameter: ${unknown}`);
}

function greeting(): Buffer {
  const message = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(4 + body.length);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  return Buffer.concat([
    message('R', Buffer.alloc(4)),
    message('S', Buffer.from('client_encoding\0UTF8\0')),
    message('Z', Buffer.from('I')),
  ]);
}
