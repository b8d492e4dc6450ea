/**
 * Subscriptions with the same document, variables and rights get the same answer to a change: it is computed once and
 * kept while the change is being delivered. An answer is shared only if nothing has happened since it was read.
 */

import { createHash } from 'node:crypto';
import { TypeInfo, visit, visitWithTypeInfo, type DocumentNode, type GraphQLSchema } from 'graphql';
import type { AccessCache, CachedAccess, LatestAccess } from '../access/access-cache.ts';
import type { Access } from '../access/access.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { isPromise, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { GraphResult, ReportedChange } from './graph-stream.ts';
import { createFieldCheck } from './document-fields.ts';
import type { SubscriptionRequest } from './subscriptions.ts';

/** Marks a field whose value depends on who the viewer is, not only on the viewer's rights. */
export const personalField = { isPersonal: true } as const;
/** Marks an argument that only says where a subscription starts: its answers do not depend on it. */
export const startArgument = { isStart: true } as const;

export interface SharedAnswersOptions {
  readonly schema: GraphQLSchema;
  readonly accessCache: Pick<AccessCache, 'peek'>;
  readonly feed: Pick<JournalFeed, 'last' | 'timesReplaced'>;
}

/** The subscriptions with the same document, variables and, if the answer depends on it, session. */
interface Group {
  readonly key: string;
  members: number;
}

/** Null if the answer takes more than one piece: then each subscription reads its own. */
type Answer = GraphResult | null;

/** How many characters of finished answers are kept. */
const maxKeptLength = 8 * 2 ** 20;
/** A client that takes longer than this to read its previous answer gets an answer of its own. */
const keptMs = 1_000;
/** Of one group and rights. Subscriptions that are further apart compute their own. */
const maxChanges = 20;

export class SharedAnswers {
  readonly #options: SharedAnswersOptions;
  readonly #groups = new Map<string, Group>();
  /** By group and rights: a few answers, one for each change that is being delivered. */
  readonly #answers = new Map<string, SharedAnswer[]>();
  readonly #isPersonal: (document: DocumentNode) => boolean;
  readonly #variablesOf: (document: DocumentNode) => readonly string[];
  #keptLength = 0;
  /** The last entry of the journal, and how often it was replaced, when the answers were read. */
  #last = 0;
  #timesReplaced = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SharedAnswersOptions) {
    this.#options = options;
    this.#isPersonal = createFieldCheck(
      options.schema,
      ({ extensions }) => extensions['isPersonal'] === true,
    );
    this.#variablesOf = createVariableList(options.schema);
  }

  /** `head` is the last entry in the snapshot that the subscription started from. */
  join({ query, viewer, request }: SubscriptionRequest, head: number): SharingMember {
    const { document, operationName, variableValues } = request;
    const values = variableValues ?? {};
    const variables = this.#variablesOf(document)
      .filter((name) => Object.hasOwn(values, name))
      .map((name) => [name, values[name]]);
    const { userId, sessionId } = viewer;
    const identity = this.#isPersonal(document) ? [userId, sessionId] : [];
    const key = createHash('sha256')
      .update(JSON.stringify([query, operationName, variables, identity]))
      .digest('base64');
    const group = this.#groups.get(key) ?? { key, members: 0 };
    this.#groups.set(key, group);
    group.members++;
    return new SharingMember(this, group, { userId, head });
  }

  leave(group: Group): void {
    if (--group.members === 0) this.#groups.delete(group.key);
  }

  /** The cached rights of a user. */
  rightsOf(userId: string): CachedAccess | undefined {
    return this.#options.accessCache.peek(userId);
  }

  find(rightsKey: string, change: ChangeFor): SharedAnswer | undefined {
    this.#dropOld();
    return this.#answers.get(rightsKey)?.find((each) => each.isFor(change));
  }

  /** Called before the snapshot of the answer is opened. The snapshot then contains everything that the feed has seen. */
  begin(rightsKey: string, change: ChangeFor): SharedAnswer {
    this.#dropOld();
    const answers = this.#answers.get(rightsKey) ?? [];
    const begun = new SharedAnswer(rightsKey, change, (answer) => this.#keep(answers, begun, answer));
    this.#answers.set(rightsKey, answers);
    answers.unshift(begun);
    if (answers.length > maxChanges) answers.pop();
    this.#timer ??= setTimeout(() => this.#drop(), keptMs).unref();
    return begun;
  }

  #keep(answers: SharedAnswer[], begun: SharedAnswer, answer: Answer | undefined): void {
    const index = answers.indexOf(begun);
    if (index < 0) return;
    const length = answer?.text.length ?? 0;
    if (answer && this.#keptLength + length <= maxKeptLength) this.#keptLength += length;
    else answers.splice(index, 1);
  }

  #dropOld(): void {
    const { last, timesReplaced } = this.#options.feed;
    if (last === this.#last && timesReplaced === this.#timesReplaced) return;
    this.#last = last;
    this.#timesReplaced = timesReplaced;
    this.#drop();
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#answers.clear();
    this.#keptLength = 0;
  }
}

/** The other inputs of an answer, besides group and rights. */
interface ChangeFor {
  readonly reported: ReportedChange;
  /** The viewer made the change: then `by` names the user. */
  readonly isOwn: boolean;
}

/** One subscription. */
export class SharingMember {
  readonly #answers: SharedAnswers;
  readonly #group: Group;
  readonly #userId: string;
  readonly #head: number;
  /** The cached rights at the last lookup, and their key in the map of answers. */
  #known: CachedAccess | undefined;
  #rightsKey = '';

  constructor(
    answers: SharedAnswers,
    group: Group,
    { userId, head }: { readonly userId: string; readonly head: number },
  ) {
    this.#answers = answers;
    this.#group = group;
    this.#userId = userId;
    this.#head = head;
  }

  /**
   * The viewer's answer to a change, if an equal subscription has computed it or is computing it. Resolves with undefined
   * if that one cannot be shared after all.
   */
  find(reported: ReportedChange): PromiseOrValue<Answer | undefined> | undefined {
    const rightsKey = this.#knownRights();
    const found = rightsKey && this.#answers.find(rightsKey, this.#changeFor(reported));
    if (!found) return undefined;
    const { answer } = found;
    const ifRecent = (shared: Answer | undefined) => (found.head >= this.#head ? shared : undefined);
    return isPromise(answer) ? answer.then(ifRecent) : ifRecent(answer);
  }

  /** Called before the answer is computed. Undefined if there is no other subscription to share it with. */
  begin(reported: ReportedChange): SharedAnswer | undefined {
    const rightsKey = this.#knownRights();
    return rightsKey ? this.#answers.begin(rightsKey, this.#changeFor(reported)) : undefined;
  }

  /** Called when the snapshot is open. False if the viewer's rights in it are others than those that were known. */
  isSharedFrom({ position, access }: LatestAccess, begun: SharedAnswer): boolean {
    return begun.rightsKey === this.#rightsKeyOf(position.accessNumber, access);
  }

  leave(): void {
    this.#answers.leave(this.#group);
  }

  #rightsKeyOf(accessNumber: number, { rightsKey }: Access): string {
    return `${this.#group.key} ${accessNumber} ${rightsKey}`;
  }

  /** Group and rights, as the answers are kept by; undefined if the answer cannot be shared. */
  #knownRights(): string | undefined {
    if (this.#group.members === 1) return undefined;
    const known = this.#answers.rightsOf(this.#userId);
    if (known && known !== this.#known) {
      this.#known = known;
      this.#rightsKey = this.#rightsKeyOf(known.number, known.access);
    }
    return known && this.#rightsKey;
  }

  #changeFor(reported: ReportedChange): ChangeFor {
    return { reported, isOwn: reported.entry?.byUserId === this.#userId };
  }
}

/** An answer that one subscription computes, and others wait for. */
export class SharedAnswer {
  readonly rightsKey: string;
  readonly #change: ChangeFor;
  readonly #onSettled: (answer: Answer | undefined) => void;
  /** The last entry in the snapshot that it is read from, once that is open. */
  head = -1;
  #answer: Answer | undefined;
  #waiting: PromiseWithResolvers<Answer | undefined> | undefined;

  constructor(rightsKey: string, change: ChangeFor, onSettled: (answer: Answer | undefined) => void) {
    this.rightsKey = rightsKey;
    this.#change = change;
    this.#onSettled = onSettled;
  }

  get answer(): PromiseOrValue<Answer | undefined> {
    if (this.#answer !== undefined) return this.#answer;
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }

  isFor({ reported, isOwn }: ChangeFor): boolean {
    return isOwn === this.#change.isOwn && isSame(reported, this.#change.reported);
  }

  /** Returns the answer with its text encoded once for all who send it. */
  settle(answer: Answer): Answer {
    this.#answer = answer && withSharedBytes(answer);
    this.#onSettled(this.#answer);
    this.#waiting?.resolve(this.#answer);
    return this.#answer;
  }

  /** Subscriptions that wait for it compute their own. */
  giveUp(): void {
    this.#onSettled(undefined);
    this.#waiting?.resolve(undefined);
  }

  /** Subscriptions that wait for it fail with the same error. Later ones compute their own. */
  fail(error: unknown): void {
    this.#onSettled(undefined);
    this.#waiting?.reject(error);
  }
}

function withSharedBytes(answer: GraphResult): GraphResult {
  let bytes: Buffer | undefined;
  return { ...answer, bytes: () => (bytes ??= Buffer.from(answer.text)) };
}

function isSame(one: ReportedChange, other: ReportedChange): boolean {
  const isSameEntry =
    one.position.number === other.position.number &&
    one.position.nonce === other.position.nonce &&
    one.entry?.number === other.entry?.number;
  if (!isSameEntry || !('kind' in one) || !('kind' in other)) return isSameEntry && !('kind' in one);
  return (
    one.kind === other.kind &&
    one.folderId === other.folderId &&
    one.oldParentId === other.oldParentId &&
    one.newParentId === other.newParentId &&
    one.count === other.count
  );
}

/** Returns a function that lists the variables of a document, without those that only say where it starts. */
function createVariableList(schema: GraphQLSchema): (document: DocumentNode) => readonly string[] {
  const known = new WeakMap<DocumentNode, readonly string[]>();
  return (document) => {
    const listed = known.get(document);
    if (listed) return listed;
    const names = new Set<string>();
    const typeInfo = new TypeInfo(schema);
    const isStart = () => typeInfo.getArgument()?.extensions['isStart'] === true;
    visit(
      document,
      visitWithTypeInfo(typeInfo, {
        VariableDefinition: () => false,
        Argument: () => (isStart() ? false : undefined),
        Variable: ({ name }) => void names.add(name.value),
      }),
    );
    const list = [...names].sort();
    known.set(document, list);
    return list;
  };
}
