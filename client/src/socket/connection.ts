/** The state of the socket, for listeners. */

import { Listeners } from '../listeners.ts';

/** The state of the socket that subscriptions and watched trees share. */
export type ConnectionState =
  /** No socket is needed: there are no subscriptions. */
  | 'idle'
  | 'connecting'
  /** The server has accepted the connection. */
  | 'connected'
  /** The connection was lost or refused. The client connects again after a pause. */
  | 'waiting'
  /** The client is closed. */
  | 'closed';

export class Connection {
  readonly #listeners = new Listeners<ConnectionState>();
  #state: ConnectionState = 'idle';

  get state(): ConnectionState {
    return this.#state;
  }

  listen(listener: (state: ConnectionState) => void): () => void {
    return this.#listeners.add(listener);
  }

  set(state: ConnectionState): void {
    if (state === this.#state || this.#state === 'closed') return;
    this.#state = state;
    this.#listeners.notify(state);
  }
}
