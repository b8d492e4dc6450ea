/** One client with one socket and one subscription to the changes of the tree. */

import { once } from 'node:events';
import { WebSocket } from 'ws';

export interface SubscriberOptions {
  readonly url: string;
  readonly authToken: string;
  readonly variables: { readonly after: string; readonly under: string | null };
  /** Undefined for a frame that is no change. */
  readonly onChange: (subscriber: Subscriber, change: Change | undefined) => void;
  readonly onClose: () => void;
}

export interface Change {
  readonly kind: string;
  readonly folder: { readonly name: string } | null;
}

interface Frame {
  readonly type: string;
  readonly payload?: { readonly data?: { readonly folderChanges?: Change } };
}

const query =
  'subscription($after: String, $under: ID){folderChanges(after: $after, under: $under){kind cursor folderId folder{name}}}';

export class Subscriber {
  readonly #socket: WebSocket;
  #onReply: (type: string) => void = () => undefined;
  /** How many changes it got; set to 0 by whoever counts. */
  received = 0;

  static async join(options: SubscriberOptions): Promise<Subscriber> {
    const { url, authToken, variables } = options;
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');
    const subscriber = new Subscriber(socket, options);
    await once(socket, 'open');
    const authorization = `Bearer ${authToken}`;
    await subscriber.#exchange({ type: 'connection_init', payload: { authorization } });
    subscriber.#send({ id: '1', type: 'subscribe', payload: { query, variables } });
    await subscriber.ping();
    return subscriber;
  }

  private constructor(socket: WebSocket, { onChange, onClose }: SubscriberOptions) {
    this.#socket = socket;
    // Then it is closed, too.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#onReply('close');
      onClose();
    });
    socket.on('message', (data: Buffer) => {
      const { type, payload } = JSON.parse(data.toString()) as Frame;
      if (type === 'connection_ack' || type === 'pong') this.#onReply(type);
      else onChange(this, payload?.data?.folderChanges);
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** What the server sent before its answer is here when this resolves. */
  async ping(): Promise<void> {
    await this.#exchange({ type: 'ping' });
  }

  async leave(): Promise<void> {
    if (!this.isOpen) return;
    const closed = once(this.#socket, 'close');
    this.#socket.close();
    await closed;
  }

  async #exchange(message: unknown): Promise<void> {
    const replied = new Promise<string>((resolve) => (this.#onReply = resolve));
    if (this.isOpen) this.#send(message);
    if (!this.isOpen || (await replied) === 'close') throw new Error('A socket was closed.');
  }

  #send(message: unknown): void {
    this.#socket.send(JSON.stringify(message));
  }
}
