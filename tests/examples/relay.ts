/**
 * A proxy between an example and a server. It records requests, and a test can act before a request is forwarded. The proxy also
 * detects passwords and tokens in process arguments, which every user of the machine can read.
 */

import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { findSecrets } from '../secrets/secret.ts';

export class Relay {
  /** Requests with their statuses in order, for example `/login 200`. */
  readonly responses: string[] = [];
  /** Kinds of secrets found in arguments, for example `password`. */
  readonly exposedSecrets: string[] = [];
  /** Called before a request is forwarded, with all earlier responses. */
  beforeRequest: (path: string, responses: readonly string[]) => void = () => undefined;
  readonly #server: Server;
  readonly #target: string;
  readonly #sockets = new Set<Socket>();

  static async start(target: string): Promise<Relay> {
    const relay = new Relay(target);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => void this.#handleRequest(request, response));
    this.#server.on('upgrade', (request, socket: Socket, head) => this.#forwardSocket(request, socket, head));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { authorization = '', 'content-type': type = '' } = request.headers;
    this.#findExposedSecrets(`${body.toString()} ${authorization}`);
    this.beforeRequest(request.url!, this.responses);
    const headers = { 'content-type': type, ...(authorization && { authorization }) };
    const answer = await fetch(this.#target + request.url!, { method: request.method!, headers, body });
    this.responses.push(`${request.url} ${answer.status}`);
    response.writeHead(answer.status, [...answer.headers].flat());
    response.end(await answer.text());
  }

  /** Forwards a WebSocket in both directions. */
  #forwardSocket({ url, headers }: IncomingMessage, socket: Socket, head: Buffer): void {
    const { hostname, port } = new URL(this.#target);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    const target = connect(Number(port), hostname);
    target.write(`GET ${url} HTTP/1.1\r\n${lines.join('')}\r\n`);
    target.write(head);
    this.#sockets.add(socket);
    for (const [from, to] of [
      [socket, target],
      [target, socket],
    ] as const) {
      from.pipe(to);
      from.on('error', () => to.destroy()).on('close', () => to.destroy());
    }
  }

  #findExposedSecrets(sent: string): void {
    const running = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => argumentsOf(pid));
    for (const { kind, value } of findSecrets(sent)) {
      if (running.some((text) => text.includes(value))) this.exposedSecrets.push(kind);
    }
  }
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
