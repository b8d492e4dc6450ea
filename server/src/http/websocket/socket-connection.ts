/**
 * One WebSocket connection in either sub-protocol: init, acknowledgement, operations, and the auth token that is renewed or
 * expires. An error of the connection closes it with a code of the contract; `operations.ts` sends the errors of operations.
 */

import { closeCodes, goingAwayReason, type CloseName } from '@espalier/contract';
import type { RawData, WebSocket } from 'ws';
import { isPromise, whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { Refusal } from '../../refusal.ts';
import type { Viewer } from '../../sessions/auth-token.ts';
import { payloadBearer, payloadViewToken } from '../request-context.ts';
import type { ConnectionBackpressure } from '../guards/backpressure.ts';
import type { HttpServices } from '../http-services.ts';
import type { LiveConnection } from '../live-connections.ts';
import { SocketOperations } from './operations.ts';
import { FlowControlledSocket } from './flow-controlled-socket.ts';
import {
  readMessage,
  writeMessage,
  type ClientMessage,
  type Payload,
  type SocketProtocol,
} from './protocols.ts';
import { TokenLease } from '../token-lease.ts';

export interface SocketOptions {
  readonly socket: WebSocket;
  readonly protocol: SocketProtocol;
  /** The tokens in the headers of the upgrade. Tokens in `connection_init` replace them. */
  readonly authToken: string | undefined;
  readonly viewToken: string | undefined;
  /** The address of the client. */
  readonly address: string | null;
  readonly requestId: string;
}

const initTimeoutMs = 10_000;
const noToken = 'Send the auth token with connection_init: {"authorization": "Bearer <token>"}.';
/** RFC 6455 §5.5: a control frame has at most 125 bytes, including two bytes for the code. */
const maxReasonBytes = 123;

export class SocketConnection implements LiveConnection {
  readonly #services: HttpServices;
  readonly #options: SocketOptions;
  readonly #socket: FlowControlledSocket;
  readonly #operations: SocketOperations;
  readonly #openedAt: number;
  #phase: 'opened' | 'admitting' | 'acknowledged' | 'closed' = 'opened';
  /** The server is shutting down, so this connection accepts no new operations. */
  #isServerStopping = false;
  /** Set just before the acknowledgement, like `#backpressure`. */
  #lease: TokenLease | undefined;
  #backpressure: ConnectionBackpressure | undefined;
  #viewToken: string | undefined;
  /** Messages of the older protocol that arrived before the acknowledgement. */
  readonly #waitingMessages: ClientMessage[] = [];

  constructor(services: HttpServices, options: SocketOptions) {
    this.#services = services;
    this.#options = options;
    this.#openedAt = services.clock.now();
    this.#viewToken = options.viewToken;
    this.#socket = new FlowControlledSocket(options.socket, {
      onUnsent: () => this.#backpressure?.setUnsent(this.#socket.unsentBytes),
      onGone: () => this.#endWork(),
    });
    this.#operations = new SocketOperations({
      services,
      protocol: options.protocol,
      socket: this.#socket,
      requestId: options.requestId,
      onFailure: (error) => this.#fail(error),
    });
    options.socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    // A frame is too large or broken. ws itself closes the socket with the code of RFC 6455.
    options.socket.on('error', () => this.#endWork());
    options.socket.on('close', (code) => {
      this.#endWork();
      services.liveConnections.remove(this);
      if (this.#lease) services.liveConnections.release(this.#lease.viewer.userId);
      services.log.debug({ requestId: options.requestId, code }, 'WebSocket closed');
    });
    services.liveConnections.add(this);
  }

  /** Closes the socket when the token lease has ended. `LiveConnections` calls this several times per second. */
  check(): void {
    if (this.#phase === 'opened' && this.#services.clock.now() >= this.#openedAt + initTimeoutMs) {
      this.#close('INIT_TIMEOUT');
    }
    if (this.#phase !== 'acknowledged') return;
    const lease = this.#lease!;
    if (lease.hasEnded) this.#reject(lease.refusal);
    else if (lease.takeWarning()) this.#warn(lease.viewer);
  }

  heartbeat(): void {
    this.#socket.heartbeat();
    if (this.#phase !== 'acknowledged') return;
    this.#services.sessions.recordApiKeyUse(this.#lease!.viewer, this.#options.address);
  }

  /** Waits for pending responses. The close reason contains a cursor if all subscriptions have reached the same cursor. */
  end(mustEnd: boolean): boolean {
    this.#isServerStopping = true;
    const isPending = this.#phase === 'acknowledged' && this.#operations.isResponsePending;
    const { cursors } = this.#operations;
    if (!mustEnd && (isPending || cursors.size > 1)) {
      this.#operations.alignCursors();
      return false;
    }
    const [cursor] = cursors.size === 1 ? cursors : [];
    this.#close('GOING_AWAY', goingAwayReason(cursor));
    return true;
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#phase === 'closed') return;
    try {
      if (isBinary) throw new Refusal('BAD_INPUT', 'A message must be text.');
      this.#handle(readMessage((data as Buffer).toString(), this.#options.protocol));
    } catch (error) {
      this.#fail(error);
    }
  }

  #handle(message: ClientMessage): void {
    switch (message.kind) {
      case 'init':
        return this.#init(message.payload);
      case 'ping':
        this.#renew(message.payload);
        // Does not send the payload back, because it may contain a token.
        return this.#send({ type: 'pong' });
      case 'pong':
        return this.#renew(message.payload);
      case 'terminate':
        return this.#close('TERMINATED');
      case 'start':
      case 'stop':
        return this.#phase === 'acknowledged' ? this.#handleOperation(message) : this.#deferMessage(message);
    }
  }

  #init(payload: Payload): void {
    if (this.#phase !== 'opened') return this.#close('SECOND_INIT');
    this.#phase = 'admitting';
    // Later messages stay in the buffers of the client until the acknowledgement.
    if (this.#options.protocol.allowsEarlyStart) this.#socket.pauseReading();
    this.#admit(payload).catch((error: unknown) => this.#refuseInit(error));
  }

  async #admit(payload: Payload): Promise<void> {
    const authToken = payloadBearer(payload) ?? this.#options.authToken;
    if (authToken === undefined) throw new Refusal('INVALID_AUTH_TOKEN', noToken);
    this.#viewToken = payloadViewToken(payload) ?? this.#viewToken;
    const viewer = await this.#authenticate(authToken, this.#viewToken);
    const lease = new TokenLease(viewer, this.#services);
    await this.#services.graph.admit(viewer);
    if (lease.hasEnded) throw lease.refusal;
    if (this.#phase !== 'admitting') return;
    this.#services.liveConnections.reserve(viewer.userId);
    this.#lease = lease;
    this.#backpressure = this.#services.admission.connect(viewer.userId);
    this.#phase = 'acknowledged';
    this.#socket.resumeReading();
    this.#send({ type: 'connection_ack' });
    for (const message of this.#waitingMessages.splice(0)) this.#handle(message);
  }

  #refuseInit(error: unknown): void {
    if (!(error instanceof Refusal)) return this.#fail(error);
    const { requestId } = this.#options;
    this.#services.log.info({ requestId, code: error.code, detail: error.message }, 'WebSocket refused');
    this.#reject(error);
  }

  /** A client of the older protocol reports no close unless its option `reconnect` is set, so this also sends the reason as a message. */
  #reject({ code, message }: Refusal): void {
    const isUnavailable = code === 'UNAVAILABLE';
    const name = isUnavailable || code === 'INVALID_VIEW_TOKEN' ? code : 'INVALID_AUTH_TOKEN';
    const { protocol, requestId } = this.#options;
    if (protocol.connectionError) {
      const payload = { message, extensions: { code: name, requestId } };
      this.#send({ type: protocol.connectionError, payload });
    }
    this.#close(name, isUnavailable ? message : undefined);
  }

  /** Renews the lease with a token in a ping or pong. Ignores a token before the acknowledgement. */
  #renew(payload: Payload): void {
    const authToken = this.#lease && payloadBearer(payload);
    if (authToken === undefined) return;
    const viewToken = payloadViewToken(payload) ?? this.#viewToken;
    const renewed = whenDone(this.#authenticate(authToken, viewToken), (viewer) => {
      this.#lease = this.#lease!.renew(viewer);
      this.#viewToken = viewToken;
    });
    if (isPromise(renewed)) renewed.catch((error: unknown) => this.#fail(error));
  }

  #authenticate(authToken: string, viewToken: string | undefined): PromiseOrValue<Viewer> {
    const { address } = this.#options;
    return this.#services.sessions.authenticateRequest(authToken, { viewToken, address: () => address });
  }

  #warn({ tokenExpiresAt }: Viewer): void {
    if (!this.#options.protocol.hasPing) return;
    const expiresAt = new Date(tokenExpiresAt).toISOString();
    this.#send({ type: 'ping', payload: { reason: 'TOKEN_EXPIRES', expiresAt } });
  }

  #deferMessage(message: ClientMessage): void {
    const mayWait = this.#options.protocol.allowsEarlyStart && this.#phase === 'admitting';
    if (mayWait && this.#waitingMessages.length < this.#services.settings.maxSubscriptions)
      this.#waitingMessages.push(message);
    else if (message.kind === 'start') this.#close('NOT_ACKNOWLEDGED');
  }

  #handleOperation(message: ClientMessage & { kind: 'start' | 'stop' }): void {
    const { id } = message;
    if (message.kind === 'stop') return this.#operations.stop(id);
    if (this.#isServerStopping) return;
    const lease = this.#lease!;
    if (lease.hasEnded) return this.#reject(lease.refusal);
    if (this.#operations.has(id)) {
      if (!this.#options.protocol.replacesSameId) {
        return this.#close('ID_IN_USE', `Subscriber for ${id} already exists`);
      }
      this.#operations.stop(id);
    }
    this.#operations.start(message, lease.viewer, this.#backpressure!);
  }

  #send(message: { type: string; payload?: unknown }): void {
    if (this.#phase !== 'closed') void this.#socket.send(writeMessage(message));
  }

  #fail(error: unknown): void {
    const code = error instanceof Refusal ? error.code : 'INTERNAL';
    if (code === 'BAD_INPUT') return this.#close('INVALID_MESSAGE', (error as Refusal).message);
    const isRejected = ['INVALID_AUTH_TOKEN', 'INVALID_VIEW_TOKEN', 'UNAVAILABLE'].includes(code);
    if (isRejected) return this.#reject(error as Refusal);
    this.#services.log.error(
      { requestId: this.#options.requestId, err: error },
      'A WebSocket failed. This is a bug.',
    );
    this.#close('INTERNAL');
  }

  #close(name: CloseName, reason: string = closeCodes[name].reason): void {
    if (this.#phase === 'closed') return;
    this.#endWork();
    const isTooLong = Buffer.byteLength(reason) > maxReasonBytes;
    this.#socket.close(closeCodes[name].code, isTooLong ? closeCodes[name].reason : reason);
  }

  /** Stops all operations, either before the socket is closed or after it has closed or failed. */
  #endWork(): void {
    this.#phase = 'closed';
    this.#waitingMessages.length = 0;
    this.#operations.stopAll();
  }
}
