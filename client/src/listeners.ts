/** A set of listeners that are called with each event. */

export class Listeners<Event> {
  readonly #listeners = new Set<(event: Event) => void>();

  /** Returns a function that removes the listener. */
  add(listener: (event: Event) => void): () => void {
    // A wrapper, because the same function can be registered twice.
    const wrapped = (event: Event) => listener(event);
    this.#listeners.add(wrapped);
    return () => void this.#listeners.delete(wrapped);
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
