/** What is done after a while: passed in, so that tests do not wait. */

export interface Timers {
  /** Answers with how to give it up. */
  after(ms: number, run: () => void): () => void;
}

export const pageTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
