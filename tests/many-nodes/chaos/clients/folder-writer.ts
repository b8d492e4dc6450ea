/**
 * Writes to its own subtree and checks it. The subtree must contain every acknowledged change, and each
 * unacknowledged change completely or not at all.
 */

import { mutation } from '../../../support/graph-testbed.ts';
import type { Account, ChaosClient, Outcome, UnknownOutcome } from './chaos-client.ts';
import { numberOf } from './follower.ts';
import { match, type FolderItem, type State } from '../folder-model.ts';
import { chooseOperation, type Operation } from '../folder-operations.ts';

/** A change that the writer sent, for the comparison with the journal. */
export interface Attempt {
  readonly kind: string;
  readonly folderId: string | undefined;
  readonly expectedAfter: Readonly<Record<string, unknown>>;
  /** Undefined if the outcome is unknown. Then only the journal shows whether the change was made. */
  readonly isDone: boolean | undefined;
  /** The cursor of the journal entry of an acknowledged change. */
  readonly cursor: string | undefined;
}

interface Payload {
  readonly cursor: string;
  readonly folder?: { readonly id: string };
}

const selections: Readonly<Record<string, string>> = {
  createFolder: 'cursor folder{id}',
  updateFolder: 'cursor folder{id version}',
  moveFolder: 'cursor folderCount folder{id}',
  deleteFolder: 'cursor folderCount folderId',
  restoreFolder: 'cursor folder{id}',
  importFolders: 'cursor folderCount',
};
const descendantsQuery = `query($id: ID!){folder(id: $id){
  descendants{items{id name title version parent{id} folders{totalCount}}}}}`;
const checkShare = 0.25;

export class FolderWriter {
  readonly attempts: Attempt[] = [];
  readonly account: Account;
  readonly topId: string;
  readonly #client: ChaosClient;
  #state: State = { model: new Map(), trash: [] };
  #nameCount = 0;

  constructor(client: ChaosClient, account: Account, topId: string) {
    this.#client = client;
    this.account = account;
    this.topId = topId;
  }

  get name(): string {
    return this.#client.name;
  }

  get state(): State {
    return this.#state;
  }

  async run(): Promise<void> {
    while (!this.#client.isOver) {
      await this.#change();
      if (this.#client.random.chance(checkShare)) await this.check();
      await this.#client.pause();
    }
  }

  /**
   * Checks that the folders match the model, at the node with this URL, or at a random node if there is no
   * URL.
   */
  async check(url?: string): Promise<void> {
    const matched = match(this.#state.model, await this.#read(url), this.topId);
    if (typeof matched !== 'string') {
      // The matched model contains the ids of new folders.
      this.#state = { ...this.#state, model: matched };
      return;
    }
    this.#client.reportViolation(`acknowledged changes are missing: ${matched}`);
    await this.#adoptActualFolders();
  }

  async #change(): Promise<void> {
    const { random } = this.#client;
    const operation = chooseOperation({
      state: this.#state,
      topId: this.topId,
      random,
      uniqueName: () => this.#uniqueName(),
    });
    const outcome = await this.#send(operation);
    if (outcome.kind === 'done') await this.#recordSuccess(operation, outcome.value);
    else if (outcome.kind === 'unknown') await this.#findOutcome(operation, outcome);
    else if (outcome.code !== operation.refusal) {
      const description = `${operation.name} ${JSON.stringify(operation.input)}`;
      this.#client.reportViolation(`${description} was refused: ${outcome.code} ${outcome.message}`);
      await this.#adoptActualFolders();
    }
  }

  async #recordSuccess(operation: Operation, { cursor, folder }: Payload): Promise<void> {
    this.#client.world.tally.count('changes of folders acknowledged');
    if (operation.refusal) {
      this.#client.reportViolation(`${JSON.stringify(operation.input)} must be refused, but was done`);
    }
    this.#recordAttempt(operation, true, cursor);
    this.#state = operation.after;
    if (operation.name === 'importFolders') return this.check();
    if (operation.name !== 'createFolder') return;
    // Replaces the temporary id of the new folder.
    const model = new Map(this.#state.model);
    model.set(folder!.id, model.get('new')!);
    model.delete('new');
    this.#state = { ...this.#state, model };
  }

  /** Finds out whether an unacknowledged change was executed. A later successful change proves that it has ended. */
  async #findOutcome(operation: Operation, { message, isRetryable }: UnknownOutcome): Promise<void> {
    const { tally } = this.#client.world;
    tally.count('changes of folders not acknowledged');
    const index = this.#recordAttempt(operation, undefined);
    await this.#runLaterChange();
    const actual = await this.#read();
    const after = match(operation.after.model, actual, this.topId);
    const isDone = typeof after !== 'string' && !operation.refusal;
    this.#setOutcome(index, isDone);
    const description = `${operation.name} ${JSON.stringify(operation.input)}`;
    const isMisreported = isDone ? isRetryable : message.includes('change was made');
    if (isMisreported)
      this.#client.reportViolation(
        `${description} was ${isDone ? '' : 'not '}done, but the response was: ${message}`,
      );
    if (isDone) {
      tally.count('changes of folders not acknowledged, but done');
      this.#state = { ...operation.after, model: after };
      return;
    }
    const before = match(this.#state.model, actual, this.topId);
    if (typeof before !== 'string') return;
    this.#client.reportViolation(
      `${description} is half done: ${before}, ${typeof after === 'string' ? after : ''}`,
    );
    await this.#adoptActualFolders();
  }

  async #runLaterChange(): Promise<void> {
    await this.#client.retryUntilDone(async () => {
      const change = { title: this.#uniqueName() };
      const operation: Operation = {
        name: 'updateFolder',
        input: { id: this.topId, ...change },
        kind: 'UPDATE_FOLDER',
        folderId: this.topId,
        expectedAfter: change,
        after: this.#state,
      };
      const outcome = await this.#send(operation);
      this.#recordAttempt(
        operation,
        outcome.kind === 'unknown' ? undefined : outcome.kind === 'done',
        outcome.kind === 'done' ? outcome.value.cursor : undefined,
      );
      return outcome;
    });
  }

  /** After a violation, continues with the actual folders. */
  async #adoptActualFolders(): Promise<void> {
    const actual = await this.#read();
    const model = new Map(
      actual.map(({ id, name, title, version, parent }) => [
        id,
        { parentId: parent.id, name, title, version },
      ]),
    );
    this.#state = { model, trash: [] };
  }

  async #send(operation: Operation): Promise<Outcome<Payload>> {
    const { name, input } = operation;
    const { authToken } = this.account;
    const query = mutation(name, selections[name]!);
    const outcome = await this.#client.graph<Record<string, Payload>>(query, { input }, { authToken });
    return outcome.kind === 'done' ? { kind: 'done', value: outcome.value[name]! } : outcome;
  }

  async #read(url?: string): Promise<readonly FolderItem[]> {
    const { folder } = await this.#client.query<{ folder: { descendants: { items: FolderItem[] } } }>(
      descendantsQuery,
      { id: this.topId },
      this.account.authToken,
      url,
    );
    return folder.descendants.items;
  }

  /** Records an attempt in the order of sending. Returns its index. */
  #recordAttempt(
    { kind, folderId, expectedAfter }: Operation,
    isDone: boolean | undefined,
    cursor?: string,
  ): number {
    const { acknowledgedAt } = this.#client.world;
    if (cursor !== undefined) acknowledgedAt.set(numberOf(cursor), performance.now());
    return this.attempts.push({ kind, folderId, expectedAfter, isDone, cursor }) - 1;
  }

  #setOutcome(index: number, isDone: boolean): void {
    this.attempts[index] = { ...this.attempts[index]!, isDone };
  }

  #uniqueName(): string {
    return `${this.name} ${++this.#nameCount}`;
  }
}
