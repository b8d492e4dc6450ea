/** The result of a check: a state, a text, and how to fix a problem. */

export type State = 'ok' | 'skipped' | 'warning' | 'problem';

export interface Finding {
  readonly state: State;
  readonly text: string;
  /** What to do. */
  readonly fix?: string;
}

/** Yields each finding immediately, so that it can be printed at once. */
export type Findings = AsyncIterable<Finding>;

/** Nothing could be checked, and this is not a problem. */
export const skipped = (text: string): Finding => ({ state: 'skipped', text });
export const ok = (text: string): Finding => ({ state: 'ok', text });
export const warning = (text: string, fix?: string): Finding => ({
  state: 'warning',
  text,
  ...(fix !== undefined && { fix }),
});
export const problem = (text: string, fix?: string): Finding => ({
  state: 'problem',
  text,
  ...(fix !== undefined && { fix }),
});
