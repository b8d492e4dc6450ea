/**
 * The far end of a WebSocket: whoever does not read is not read from, and whoever is gone is let go. Knows nothing of
 * what is said.
 */

import type { WebSocket } from 'ws';

/** Above it, nothing more is read from the peer: it could only ask for more. */
const mostBufferedBytes = 2 ** 20;
/** Many small answers take more than their bytes. */
const mostPendingFrames = 1_000;
const mostSilentBeats = 3;
/** Beats for a long answer on a slow line, at most. */
const mostPatience = 20;

export class SocketPeer {
  readonly #socket: WebSocket;
  #silentBeats = 0;
  #pendingFrames = 0;

  /** The server is made with `autoPong: false`: a peer that pings and does not read is held back like any other. */
  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', () => this.#hear());
    socket.on('pong', () => this.#hear());
    socket.on('ping', (data: Buffer) => {
      this.#hear();
      socket.pong(data, false, () => this.#onFlushed());
      this.#onSent();
    });
  }

  /** Resolves when the frame has left the process, or never will. */
  send(frame: string): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.send(frame, () => {
        this.#onFlushed();
        resolve();
      });
      this.#onSent();
    });
  }

  /** Asks for a sign of life. A long frame may take its time on a slow line. */
  beat(): void {
    const patience = Math.min(this.#socket.bufferedAmount / mostBufferedBytes, mostPatience);
    if (this.#silentBeats >= mostSilentBeats + patience) {
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

  /** Of what is allowed to be on its way to the peer, how much is. */
  get #load(): number {
    return Math.max(this.#socket.bufferedAmount / mostBufferedBytes, this.#pendingFrames / mostPendingFrames);
  }

  #onSent(): void {
    this.#pendingFrames++;
    const { isPaused, readyState, OPEN } = this.#socket;
    if (!isPaused && readyState === OPEN && this.#load > 1) this.#socket.pause();
  }

  #onFlushed(): void {
    this.#pendingFrames--;
    if (!this.#socket.isPaused) return;
    // While it is paused its pongs are not read: that it takes in something is the sign of life.
    this.#hear();
    if (this.#load <= 0.5) this.#socket.resume();
  }
}
