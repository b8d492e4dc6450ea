/**
 * The far end of a WebSocket: whoever does not read is not read from, and whoever is gone is let go. Knows nothing of
 * what is said.
 */

import type { WebSocket } from 'ws';

/** Above it, nothing more is read from the peer: it could only ask for more. */
const mostBufferedBytes = 2 ** 20;
const mostSilentBeats = 3;

export class SocketPeer {
  readonly #socket: WebSocket;
  #silentBeats = 0;

  /** The server is made with `autoPong: false`: a peer that pings and does not read is held back like any other. */
  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', () => this.#hear());
    socket.on('pong', () => this.#hear());
    socket.on('ping', (data: Buffer) => {
      this.#hear();
      socket.pong(data, false, () => this.#onFlushed());
      this.#holdBack();
    });
  }

  /** Resolves when the frame has left the process, or never will. */
  send(frame: string): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.send(frame, () => {
        this.#onFlushed();
        resolve();
      });
      this.#holdBack();
    });
  }

  /** Asks for a sign of life. A long frame may take its time on a slow line. */
  beat(): void {
    if (this.#silentBeats >= mostSilentBeats + this.#socket.bufferedAmount / mostBufferedBytes) {
      this.#socket.terminate();
      return;
    }
    this.#silentBeats++;
    this.#socket.ping();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
    // The peer's own close frame must be read, however much it has not read.
    this.#socket.resume();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #hear(): void {
    this.#silentBeats = 0;
  }

  #holdBack(): void {
    const { isPaused, bufferedAmount, readyState, OPEN } = this.#socket;
    if (!isPaused && readyState === OPEN && bufferedAmount > mostBufferedBytes) this.#socket.pause();
  }

  #onFlushed(): void {
    if (!this.#socket.isPaused) return;
    // While it is paused its pongs are not read: that it takes in something is the sign of life.
    this.#hear();
    if (this.#socket.bufferedAmount <= mostBufferedBytes / 2) this.#socket.resume();
  }
}
