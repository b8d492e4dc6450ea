/** Timers that are passed in, so that tests do not wait. */

export interface Timers {
  /** Returns a function that cancels the call. */
  after(ms: number, run: () => void): () => void;
}

export const pageTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
