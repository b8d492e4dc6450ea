/**
 * One connection over a WebSocket, in either dialect: init, acknowledgement, operations, a token that is prolonged or
 * ends. Whatever is wrong ends it with a code of the contract's list.
 */

import { closeCodes, goingAwayReason, type CloseName } from '@espalier/contract';
import type { RawData, WebSocket } from 'ws';
import type { Viewer } from '../../sessions/viewer.ts';
import { Refusal } from '../../refusal.ts';
import { payloadBearer } from '../authorization.ts';
import type { LiveConnection, LiveServices } from './live-connections.ts';
import { TokenLease } from './token-lease.ts';
import type { ConnectionBackpressure } from '../guards/backpressure.ts';
import {
  readMessage,
  writeMessage,
  type ClientMessage,
  type SocketProtocol,
  type Payload,
} from './protocols.ts';
import { SocketOperations } from './operations.ts';
import { SocketPeer } from './peer.ts';

export interface SocketOptions {
  readonly socket: WebSocket;
  readonly dialect: SocketProtocol;
  /** By the token of the upgrade's header, if it had one. */
  readonly viewer: Viewer | undefined;
  readonly requestId: string;
  readonly maxSubscriptions: number;
}

const initWithinMs = 10_000;
const noToken = 'Send the auth token with connection_init: {"authorization": "Bearer <token>"}.';
/** RFC 6455 §5.5: a control frame holds 125 bytes, and the code takes two of them. */
const longestReasonBytes = 123;

export class SocketConnection implements LiveConnection {
  readonly #services: LiveServices;
  readonly #options: SocketOptions;
  readonly #peer: SocketPeer;
  readonly #operations: SocketOperations;
  readonly #openedAt: number;
  #phase: 'opened' | 'admitting' | 'acknowledged' | 'closed' = 'opened';
  /** The service stops: nothing more is begun. */
  #isEnding = false;
  #presence: TokenLease | undefined;
  /** From the acknowledgement on. */
  #room: ConnectionBackpressure | undefined;
  /** What the older dialect may send before the acknowledgement. */
  readonly #waiting: ClientMessage[] = [];

  constructor(services: LiveServices, options: SocketOptions) {
    this.#services = services;
    this.#options = options;
    this.#openedAt = services.clock.now();
    this.#peer = new SocketPeer(options.socket, {
      onUnsent: () => this.#room?.setUnsent(this.#peer.unsentBytes),
      onGone: () => this.#leave(),
    });
    this.#operations = new SocketOperations({
      graph: services.graph,
      dialect: options.dialect,
      peer: this.#peer,
      pressure: services.admission,
      room: () => this.#room!,
      tracing: services.tracing,
      most: options.maxSubscriptions,
      onFailure: (error) => this.#fail(error),
    });
    options.socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    // A frame that is too large or broken: ws closes with the code of RFC 6455, and this is only its cause.
    options.socket.on('error', () => this.#leave());
    options.socket.on('close', (code) => {
      this.#leave();
      services.connections.remove(this);
      if (this.#presence) services.connections.leave(this.#presence.viewer.userId);
      services.log.debug({ requestId: options.requestId, code }, 'socket closed');
    });
    services.connections.add(this);
  }

  check(): void {
    if (this.#phase === 'opened' && this.#services.clock.now() >= this.#openedAt + initWithinMs) {
      this.#close('INIT_TIMEOUT');
    }
    if (this.#phase !== 'acknowledged') return;
    const presence = this.#presence!;
    if (presence.isOver) this.#reject(presence.refusal);
    else if (presence.takeWarning()) this.#warn(presence.viewer);
  }

  heartbeat(): void {
    this.#peer.heartbeat();
  }

  /** What was begun is answered first. With a cursor, if one is right for every subscription. */
  end(mustEnd: boolean): boolean {
    this.#isEnding = true;
    const isDue = this.#phase === 'acknowledged' && this.#operations.isAnswerDue;
    const { cursors } = this.#operations;
    if (!mustEnd && (isDue || cursors.size > 1)) {
      this.#operations.gather();
      return false;
    }
    const [cursor] = cursors.size === 1 ? cursors : [];
    this.#close('GOING_AWAY', goingAwayReason(cursor));
    return true;
  }

  terminate(): void {
    this.#peer.terminate();
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#phase === 'closed') return;
    try {
      if (isBinary) throw new Refusal('BAD_INPUT', 'A message must be text.');
      this.#handle(readMessage((data as Buffer).toString(), this.#options.dialect));
    } catch (error) {
      this.#fail(error);
    }
  }

  #handle(message: ClientMessage): void {
    switch (message.kind) {
      case 'init':
        return this.#init(message.payload);
      case 'ping':
        this.#prolong(message.payload);
        // Without the payload, in which there may be a token.
        return this.#send({ type: 'pong' });
      case 'pong':
        return this.#prolong(message.payload);
      case 'terminate':
        return this.#close('TERMINATED');
      case 'start':
      case 'stop':
        return this.#phase === 'acknowledged' ? this.#operate(message) : this.#wait(message);
    }
  }

  #init(payload: Payload): void {
    if (this.#phase !== 'opened') return this.#close('SECOND_INIT');
    this.#phase = 'admitting';
    // What it sends before the acknowledgement stays with it.
    if (this.#options.dialect.allowsEarlyStart) this.#peer.pauseReading();
    this.#admit(payload).catch((error: unknown) => this.#refuseInit(error));
  }

  async #admit(payload: Payload): Promise<void> {
    const viewer = this.#shownBy(payload) ?? this.#options.viewer;
    if (!viewer) throw new Refusal('INVALID_AUTH_TOKEN', noToken);
    const presence = new TokenLease(viewer, this.#services);
    await this.#services.graph.admit(viewer);
    if (presence.isOver) throw new Refusal('INVALID_AUTH_TOKEN');
    if (this.#phase !== 'admitting') return;
    this.#services.connections.enter(viewer.userId);
    this.#presence = presence;
    this.#room = this.#services.admission.connect(viewer.userId);
    this.#phase = 'acknowledged';
    this.#peer.resumeReading();
    this.#send({ type: 'connection_ack' });
    for (const message of this.#waiting.splice(0)) this.#handle(message);
  }

  #refuseInit(error: unknown): void {
    if (!(error instanceof Refusal)) return this.#fail(error);
    const { requestId } = this.#options;
    this.#services.log.info({ requestId, code: error.code, detail: error.message }, 'socket refused');
    this.#reject(error);
  }

  /** Only the older protocol has a frame for the reason. Its client without `reconnect` never reports a close. */
  #reject({ code, message }: Refusal): void {
    const isUnavailable = code === 'UNAVAILABLE';
    const name = isUnavailable ? code : 'INVALID_AUTH_TOKEN';
    const { connectionError } = this.#options.dialect;
    if (connectionError) {
      this.#send({ type: connectionError, payload: { message, extensions: { code: name } } });
    }
    this.#close(name, isUnavailable ? message : undefined);
  }

  /** A token in a ping or pong takes the place of the one before it; before there is one, it says nothing. */
  #prolong(payload: Payload): void {
    const viewer = this.#presence && this.#shownBy(payload);
    if (viewer) this.#presence = this.#presence!.renew(viewer);
  }

  #warn({ tokenExpiresAt }: Viewer): void {
    if (!this.#options.dialect.hasPing) return;
    const expiresAt = new Date(tokenExpiresAt).toISOString();
    this.#send({ type: 'ping', payload: { reason: 'TOKEN_EXPIRES', expiresAt } });
  }

  #wait(message: ClientMessage): void {
    const mayWait = this.#options.dialect.allowsEarlyStart && this.#phase === 'admitting';
    if (mayWait && this.#waiting.length < this.#options.maxSubscriptions) this.#waiting.push(message);
    else if (message.kind === 'start') this.#close('NOT_ACKNOWLEDGED');
  }

  #operate(message: ClientMessage & { kind: 'start' | 'stop' }): void {
    const { id } = message;
    if (message.kind === 'stop') return this.#operations.stop(id);
    if (this.#isEnding) return;
    const presence = this.#presence!;
    if (presence.isOver) return this.#reject(presence.refusal);
    if (this.#operations.has(id)) {
      if (!this.#options.dialect.replacesSameId) {
        return this.#close('ID_IN_USE', `Subscriber for ${id} already exists`);
      }
      this.#operations.stop(id);
    }
    this.#operations.start(message, presence.viewer);
  }

  /** Undefined if no token is shown; one that is not good is refused. */
  #shownBy(payload: Payload): Viewer | undefined {
    const authToken = payloadBearer(payload);
    return authToken === undefined ? undefined : this.#services.sessions.authenticate(authToken);
  }

  #send(message: { type: string; payload?: unknown }): void {
    if (this.#phase !== 'closed') void this.#peer.send(writeMessage(message));
  }

  #fail(error: unknown): void {
    const code = error instanceof Refusal ? error.code : 'INTERNAL';
    if (code === 'BAD_INPUT') return this.#close('INVALID_MESSAGE', (error as Refusal).message);
    if (code === 'INVALID_AUTH_TOKEN' || code === 'UNAVAILABLE') return this.#reject(error as Refusal);
    this.#services.log.error({ requestId: this.#options.requestId, err: error }, 'a socket failed');
    this.#close('INTERNAL');
  }

  #close(name: CloseName, reason: string = closeCodes[name].reason): void {
    if (this.#phase === 'closed') return;
    this.#leave();
    const isTooLong = Buffer.byteLength(reason) > longestReasonBytes;
    this.#peer.close(closeCodes[name].code, isTooLong ? closeCodes[name].reason : reason);
  }

  #leave(): void {
    this.#phase = 'closed';
    this.#waiting.length = 0;
    this.#operations.stopAll();
  }
}
