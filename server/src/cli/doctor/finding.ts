/** What the doctor finds: how it is, and what to do about it. */

export type State = 'ok' | 'skipped' | 'warning' | 'problem';

export interface Finding {
  readonly state: State;
  readonly text: string;
  /** What to do. */
  readonly fix?: string;
}

/** Found one after the other, so that each can be shown at once. */
export type Findings = AsyncIterable<Finding>;

/** What could not be looked at, and need not be. */
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
