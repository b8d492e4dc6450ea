/** A user's program around a published client: it keeps its tokens, what it was told, and where it is in the journal. */

import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import type { Person } from '../people/people-bed.ts';
import type { WatchedBed } from './watched-bed.ts';

export interface Change {
  readonly kind: string;
  readonly cursor: string;
  readonly folderId: string;
}

/** What each of the published clients hands on. */
export interface Result {
  readonly data?: unknown;
  readonly errors?:
    readonly { readonly extensions?: Readonly<Record<string, unknown>> | undefined }[] | undefined;
}

const patienceMs = 20_000;

export class WatchingProgram {
  readonly changes: Change[] = [];
  readonly #bed: WatchedBed;
  readonly #start: string;
  #tokens: LoginResponse;
  #isTokenOld = false;
  #wake: () => void = () => undefined;
  #failure: unknown;

  static async start(bed: WatchedBed, person: Person): Promise<WatchingProgram> {
    const { cursor } = await bed.ask<{ cursor: string }>('{cursor}');
    return new WatchingProgram(bed, cursor, await bed.logIn(person));
  }

  private constructor(bed: WatchedBed, start: string, tokens: LoginResponse) {
    this.#bed = bed;
    this.#start = start;
    this.#tokens = tokens;
  }

  /**
   * What it subscribes with. Each client writes its request anew for every connection, and so the getter gives the
   * cursor of the last change that is known by then.
   */
  get subscription() {
    const lastCursor = () => this.changes.at(-1)?.cursor ?? this.#start;
    return {
      query: 'subscription($after: String){folderChanges(after: $after){kind cursor folderId}}',
      variables: {
        get after() {
          return lastCursor();
        },
      },
    };
  }

  /** The token that it has, or a fresh one if it knows that this one is over. */
  async authorization(): Promise<string> {
    if (this.#isTokenOld) await this.refresh();
    return `Bearer ${this.#tokens.authToken}`;
  }

  noteTokenIsOld(): void {
    this.#isTokenOld = true;
  }

  async refresh(): Promise<void> {
    this.#tokens = (await this.#bed.bed.refresh(this.#tokens)).json<LoginResponse>();
    this.#isTokenOld = false;
  }

  note({ data, errors }: Result): void {
    if (errors) return this.fail(errors);
    this.changes.push((data as { folderChanges: Change }).folderChanges);
    this.#wake();
  }

  /** For what the client reports as the end of it all: whoever waits is told. */
  fail(error: unknown): void {
    this.#failure ??= error;
    this.#wake();
  }

  /** Waits until it was told of so many changes. */
  async until(count: number): Promise<void> {
    const deadline = AbortSignal.timeout(patienceMs);
    while (this.changes.length < count) {
      if (this.#failure) throw new Error('The client has failed.', { cause: this.#failure });
      await new Promise<void>((resolve, reject) => {
        this.#wake = resolve;
        deadline.onabort = () => reject(new Error(`${this.changes.length} of ${count} changes came.`));
      });
    }
  }

  /** It was told of all that the journal holds since it began, in order, and of nothing twice. */
  async assertMissedNothing(): Promise<void> {
    const query = 'query($after: String){changes(after: $after, first: 1000){items{kind cursor folderId}}}';
    type Answer = { changes: { items: Change[] } };
    const { changes } = await this.#bed.ask<Answer>(query, { after: this.#start });
    assert.deepEqual(this.changes, changes.items);
  }
}
