/**
 * Flow control and heartbeats of a WebSocket, independent of the sub-protocol. The server reads nothing from a client that
 * does not read, and closes the connection of a client that no longer responds.
 */

import type { WebSocket } from 'ws';

/** Beyond this limit, the server stops reading, because the client could only request more data. */
const maxBufferedBytes = 2 ** 20;
/** Many small frames need more memory than their bytes. */
const maxPendingFrames = 1_000;
const maxMissedHeartbeats = 3;
/** Additional heartbeats for a long frame on a slow connection. */
const maxExtraHeartbeats = 20;
/** Memory of a waiting frame in addition to its text: buffers, callbacks, the operation's promise. */
const frameBytes = 1024;

const asText = { binary: false };

interface SocketListeners {
  /** Called whenever `unsentBytes` has changed. */
  readonly onUnsent: () => void;
  /** Called when a frame cannot be sent. The socket's `close` event can follow much later. */
  readonly onGone: () => void;
}

export class FlowControlledSocket {
  readonly #socket: WebSocket;
  readonly #listeners: SocketListeners;
  /** Heartbeats since the client last sent something. */
  #missedHeartbeats = 0;
  /** Heartbeats since a frame left the process, while others wait. */
  #stalledHeartbeats = 0;
  #pendingFrames = 0;
  #unsentBytes = 0;
  #isPaused = false;

  /** The server uses `autoPong: false`, so that pongs for a client that does not read are counted like other frames. */
  constructor(socket: WebSocket, listeners: SocketListeners) {
    this.#socket = socket;
    this.#listeners = listeners;
    const onReceived = () => (this.#missedHeartbeats = 0);
    socket.on('message', onReceived);
    socket.on('pong', onReceived);
    socket.on('ping', (data: Buffer) => {
      onReceived();
      socket.pong(data, false, () => this.#onFlushed(frameBytes));
      this.#onSent(frameBytes);
    });
  }

  /** Bytes in memory that the client has not read yet. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Reads nothing from the client until `resumeReading`. */
  pauseReading(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#isPaused = false;
    this.#resume();
  }

  /** Resolves when the message has left the process, or cannot be sent. */
  send(message: string | Buffer): Promise<void> {
    return new Promise((resolve) => this.write(message, resolve));
  }

  /** Sends a text message. Calls back when the message has left the process, or cannot be sent. */
  write(message: string | Buffer, onLeft: () => void): void {
    // Both the result and the message around it stay in memory.
    const bytes = frameBytes + 2 * message.length;
    this.#socket.send(message, asText, (error) => {
      this.#onFlushed(bytes);
      if (error) this.#listeners.onGone();
      onLeft();
    });
    this.#onSent(bytes);
  }

  /** Pings the client. Closes the connection if the client does not respond or read. A long frame may take longer. */
  heartbeat(): void {
    const extra = Math.min(this.#socket.bufferedAmount / maxBufferedBytes, maxExtraHeartbeats);
    if (Math.max(this.#missedHeartbeats, this.#stalledHeartbeats) >= maxMissedHeartbeats + extra) {
      this.#socket.terminate();
      return;
    }
    this.#missedHeartbeats++;
    if (this.#pendingFrames > 0) this.#stalledHeartbeats++;
    this.#socket.ping();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
    // The client's own close frame must be read, even if the client has not read everything.
    this.#socket.resume();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** The unsent data as a share of the limits. */
  get #load(): number {
    return Math.max(this.#socket.bufferedAmount / maxBufferedBytes, this.#pendingFrames / maxPendingFrames);
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
    this.#stalledHeartbeats = 0;
    // The server reads no pongs from a paused socket. The client is still there, because it reads.
    if (this.#socket.isPaused) this.#missedHeartbeats = 0;
    this.#resume();
    this.#listeners.onUnsent();
  }

  #resume(): void {
    if (this.#socket.isPaused && !this.#isPaused && this.#load <= 0.5) this.#socket.resume();
  }
}
