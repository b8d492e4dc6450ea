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
/** A frame that waits takes so much in addition to its text: buffers, callbacks, the operation's promise. */
const frameBytes = 1024;

const asText = { binary: false };

export interface PeerListeners {
  /** Called whenever `unsentBytes` has changed. */
  readonly onUnsent: () => void;
  /** Called when a frame cannot be sent any more; the socket's `close` may come much later. */
  readonly onGone: () => void;
}

export class SocketPeer {
  readonly #socket: WebSocket;
  readonly #listeners: PeerListeners;
  #silentBeats = 0;
  /** Since a frame left the process, while others wait to. */
  #stalledBeats = 0;
  #pendingFrames = 0;
  #unsentBytes = 0;
  #isHeld = false;

  /** The server is made with `autoPong: false`: a peer that pings and does not read is held back like any other. */
  constructor(socket: WebSocket, listeners: PeerListeners) {
    this.#socket = socket;
    this.#listeners = listeners;
    socket.on('message', () => this.#hear());
    socket.on('pong', () => this.#hear());
    socket.on('ping', (data: Buffer) => {
      this.#hear();
      socket.pong(data, false, () => this.#onFlushed(frameBytes));
      this.#onSent(frameBytes);
    });
  }

  /** What the process keeps because the peer has not read it. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Reads nothing more from the peer until `release`. */
  pauseReading(): void {
    this.#isHeld = true;
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#isHeld = false;
    this.#resume();
  }

  /** Resolves when the message has left the process, or never will. */
  send(message: string | Buffer): Promise<void> {
    return new Promise((resolve) => this.write(message, resolve));
  }

  /** Sends a text message; calls back when it has left the process, or never will. */
  write(message: string | Buffer, onLeft: () => void): void {
    // The result and the message made of it are both kept.
    const bytes = frameBytes + 2 * message.length;
    this.#socket.send(message, asText, (error) => {
      this.#onFlushed(bytes);
      if (error) this.#listeners.onGone();
      onLeft();
    });
    this.#onSent(bytes);
  }

  /**
   * Asks for a sign of life, and closes on a peer that does not read, whatever it sends. A long frame may take its time on a
   * slow line.
   */
  heartbeat(): void {
    const patience = Math.min(this.#socket.bufferedAmount / mostBufferedBytes, mostPatience);
    if (Math.max(this.#silentBeats, this.#stalledBeats) >= mostSilentBeats + patience) {
      this.#socket.terminate();
      return;
    }
    this.#silentBeats++;
    if (this.#pendingFrames > 0) this.#stalledBeats++;
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

  #onSent(bytes: number): void {
    this.#pendingFrames++;
    this.#unsentBytes += bytes;
    const { isPaused, readyState, OPEN } = this.#socket;
    if (!isPaused && readyState === OPEN && this.#load > 1) this.#socket.pause();
    this.#listeners.onUnsent();
  }

  #onFlushed(bytes: number): void {
    this.#pendingFrames--;
    this.#unsentBytes -= bytes;
    this.#stalledBeats = 0;
    // While it is paused its pongs are not read: that it takes in something is the sign of life.
    if (this.#socket.isPaused) this.#hear();
    this.#resume();
    this.#listeners.onUnsent();
  }

  #resume(): void {
    if (this.#socket.isPaused && !this.#isHeld && this.#load <= 0.5) this.#socket.resume();
  }
}
