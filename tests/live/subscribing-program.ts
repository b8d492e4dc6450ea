/**
 * A program that uses a published client. It stores its tokens, the changes received and its journal cursor.
 */

import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import type { Person } from '../people/people-testbed.ts';
import type { WatchTestbed } from './watch-testbed.ts';

export interface Change {
  readonly kind: string;
  readonly cursor: string;
  readonly folderId: string;
}

/** A result as all published clients deliver it. */
export interface Result {
  readonly data?: unknown;
  readonly errors?:
    | readonly { readonly extensions?: Readonly<Record<string, unknown>> | undefined }[]
    | undefined;
}

const timeoutMs = 20_000;

export class SubscribingProgram {
  readonly changes: Change[] = [];
  readonly #testbed: WatchTestbed;
  readonly #startCursor: string;
  #tokens: LoginResponse;
  #isTokenOld = false;
  #wake: () => void = () => undefined;
  #failure: unknown;

  static async start(testbed: WatchTestbed, person: Person): Promise<SubscribingProgram> {
    const { cursor } = await testbed.query<{ cursor: string }>('{cursor}');
    return new SubscribingProgram(testbed, cursor, await testbed.logIn(person));
  }

  private constructor(testbed: WatchTestbed, start: string, tokens: LoginResponse) {
    this.#testbed = testbed;
    this.#startCursor = start;
    this.#tokens = tokens;
  }

  /**
   * The subscription request. Clients serialize it again for every connection, so the getter returns the
   * cursor of the last change received.
   */
  get subscription() {
    const lastCursor = () => this.changes.at(-1)?.cursor ?? this.#startCursor;
    return {
      query: 'subscription($after: String){folderChanges(after: $after){kind cursor folderId}}',
      variables: {
        get after() {
          return lastCursor();
        },
      },
    };
  }

  /** Returns the current token, or a fresh one if the current one has expired. */
  async authorization(): Promise<string> {
    if (this.#isTokenOld) await this.refresh();
    return `Bearer ${this.#tokens.authToken}`;
  }

  markTokenExpired(): void {
    this.#isTokenOld = true;
  }

  async refresh(): Promise<void> {
    this.#tokens = (await this.#testbed.server.refresh(this.#tokens)).json<LoginResponse>();
    this.#isTokenOld = false;
  }

  receive({ data, errors }: Result): void {
    if (errors) return this.fail(errors);
    this.changes.push((data as { folderChanges: Change }).folderChanges);
    this.#wake();
  }

  /** Called when the client reports a final error. Makes `waitForChanges` reject. */
  fail(error: unknown): void {
    this.#failure ??= error;
    this.#wake();
  }

  /** Waits until `count` changes have arrived. */
  async waitForChanges(count: number): Promise<void> {
    const deadline = AbortSignal.timeout(timeoutMs);
    while (this.changes.length < count) {
      if (this.#failure) throw new Error('The client has failed.', { cause: this.#failure });
      await new Promise<void>((resolve, reject) => {
        this.#wake = resolve;
        deadline.onabort = () => reject(new Error(`${this.changes.length} of ${count} changes arrived.`));
      });
    }
  }

  /**
   * Asserts that the program received every change in the journal since its start, in order and without
   * duplicates.
   */
  async assertMissedNothing(): Promise<void> {
    const query = 'query($after: String){changes(after: $after, first: 1000){items{kind cursor folderId}}}';
    type Response = { changes: { items: Change[] } };
    const { changes } = await this.#testbed.query<Response>(query, { after: this.#startCursor });
    assert.deepEqual(this.changes, changes.items);
  }
}
