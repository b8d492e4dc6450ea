/** A raw connection to the server, for requests that no HTTP client sends and for many requests at the same instant. */

import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { recordSecretsIn } from '../secrets/secret-record.ts';

export interface RawResponse {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export class RawConnection {
  readonly #socket: Socket;
  #received = '';
  #wake: () => void = () => undefined;

  static async open(url: string, { reads = true }: { reads?: boolean } = {}): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    await once(socket, 'connect');
    return new RawConnection(socket, reads);
  }

  private constructor(socket: Socket, reads: boolean) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    if (reads) {
      socket.on('data', (text: string) => {
        this.#received += text;
        this.#wake();
      });
    }
    socket.on('error', () => undefined);
    socket.on('close', () => this.#wake());
  }

  /**
   * Sends the characters unchanged and reads one response. Returns undefined if the server closed the
   * connection without a response.
   */
  async exchange(request: string): Promise<RawResponse | undefined> {
    this.send(request);
    return this.read();
  }

  send(request: string): void {
    recordSecretsIn(request);
    this.#socket.write(request, 'latin1');
  }

  async read(): Promise<RawResponse | undefined> {
    for (;;) {
      const response = this.#takeResponse();
      if (response || this.#socket.closed) return response;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  get isOpen(): boolean {
    return !this.#socket.readableEnded && !this.#socket.closed;
  }

  close(): void {
    this.#socket.destroy();
  }

  #takeResponse(): RawResponse | undefined {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const head = this.#received.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const start = end + 4;
    if (this.#received.length < start + length) return undefined;
    const body = this.#received.slice(start, start + length);
    recordSecretsIn(body);
    this.#received = this.#received.slice(start + length);
    return { status: Number(head.slice(9, 12)), head, body };
  }
}
