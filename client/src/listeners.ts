/** A set of listeners that are called with each event. */

export class Listeners<Event> {
  readonly #listeners = new Set<(event: Event) => void>();

  /** Returns a function that removes the listener. */
  add(listener: (event: Event) => void): () => void {
    // A new function, because a caller can register the same listener twice.
    const callListener = (event: Event) => listener(event);
    this.#listeners.add(callListener);
    return () => void this.#listeners.delete(callListener);
  }

  notify(event: Event): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        // A failing listener must not break the client. Browsers print the error to their console.
        (globalThis as { reportError?: (error: unknown) => void }).reportError?.(error);
      }
    }
  }
}
