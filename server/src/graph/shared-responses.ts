/**
 * Subscriptions with the same document, variables and rights get the same response to a change. It is computed once and
 * cached while the change is delivered. A response is shared only if the journal has no newer entry.
 */

import { createHash } from 'node:crypto';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { AccessCache, CachedAccess, LatestAccess } from '../access/access-cache.ts';
import type { Access } from '../access/access.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { isPromise, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { GraphResult, ReportedChange } from './graph-stream.ts';
import { createFieldCheck, createVariableList, isPersonalField } from './document-fields.ts';
import type { Operation } from './operation.ts';

/** Subscriptions with the same document and variables; also with the same session, if the document has a personal field. */
interface Group {
  readonly key: string;
  members: number;
}

/** Null if the response takes more than one slice: then each subscription reads its own. */
type Response = GraphResult | null;

/** How many characters of responses are cached. */
const maxCachedLength = 8 * 2 ** 20;
/** A client that takes longer than this to read its previous response gets a response of its own. */
const cacheMs = 1_000;
/** How many responses are cached for one group and rights. A subscription that is further behind computes its own. */
const maxChanges = 20;

export interface SharingServices {
  readonly accessCache: Pick<AccessCache, 'peek'>;
  readonly feed: Pick<JournalFeed, 'last' | 'timesReplaced'>;
}

export class SharedResponses {
  readonly #services: SharingServices;
  readonly #groups = new Map<string, Group>();
  /** By group and rights: a few responses, one for each change that is being delivered. */
  readonly #responses = new Map<string, SharedResponse[]>();
  readonly #isPersonal: (document: DocumentNode) => boolean;
  readonly #variablesOf: (document: DocumentNode) => readonly string[];
  #cachedLength = 0;
  /** The state of the journal feed when the responses were computed. */
  #last = 0;
  #timesReplaced = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(schema: GraphQLSchema, services: SharingServices) {
    this.#services = services;
    this.#isPersonal = createFieldCheck(schema, isPersonalField);
    this.#variablesOf = createVariableList(schema);
  }

  /** `head` is the last entry in the snapshot that the subscription started from. */
  join({ query, viewer, request }: Operation, head: number): GroupMember {
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
    return new GroupMember(this, group, { userId, head });
  }

  leave(group: Group): void {
    if (--group.members === 0) this.#groups.delete(group.key);
  }

  /** The cached rights of a user. */
  rightsOf(userId: string): CachedAccess | undefined {
    return this.#services.accessCache.peek(userId);
  }

  find(rightsKey: string, change: ChangeFor): SharedResponse | undefined {
    this.#dropOld();
    return this.#responses.get(rightsKey)?.find((each) => each.isFor(change));
  }

  /** Called before the snapshot of the response is opened, so that the snapshot contains every entry of the feed. */
  begin(rightsKey: string, change: ChangeFor): SharedResponse {
    this.#dropOld();
    const responses = this.#responses.get(rightsKey) ?? [];
    const begun = new SharedResponse(rightsKey, change, (response) =>
      this.#cache(responses, begun, response),
    );
    this.#responses.set(rightsKey, responses);
    responses.unshift(begun);
    if (responses.length > maxChanges) responses.pop();
    this.#timer ??= setTimeout(() => this.#drop(), cacheMs).unref();
    return begun;
  }

  #cache(responses: SharedResponse[], begun: SharedResponse, response: Response | undefined): void {
    const index = responses.indexOf(begun);
    if (index < 0) return;
    const length = response?.text.length ?? 0;
    if (response && this.#cachedLength + length <= maxCachedLength) this.#cachedLength += length;
    else responses.splice(index, 1);
  }

  #dropOld(): void {
    const { last, timesReplaced } = this.#services.feed;
    if (last === this.#last && timesReplaced === this.#timesReplaced) return;
    this.#last = last;
    this.#timesReplaced = timesReplaced;
    this.#drop();
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#responses.clear();
    this.#cachedLength = 0;
  }
}

/** The inputs of a response other than group and rights. */
interface ChangeFor {
  readonly change: ReportedChange;
  /** The viewer made the change: then `by` names the user. */
  readonly isOwn: boolean;
}

/** One subscription. */
export class GroupMember {
  readonly #responses: SharedResponses;
  readonly #group: Group;
  readonly #userId: string;
  readonly #head: number;
  /** The cached rights at the last lookup, and their key in the map of responses. */
  #rights: CachedAccess | undefined;
  #rightsKey = '';

  constructor(
    responses: SharedResponses,
    group: Group,
    { userId, head }: { readonly userId: string; readonly head: number },
  ) {
    this.#responses = responses;
    this.#group = group;
    this.#userId = userId;
    this.#head = head;
  }

  /**
   * The viewer's response to a change, if another member of the group has computed it or is computing it. Resolves with
   * undefined if that one cannot be shared after all.
   */
  find(change: ReportedChange): PromiseOrValue<Response | undefined> | undefined {
    const rightsKey = this.#findRightsKey();
    const found = rightsKey && this.#responses.find(rightsKey, this.#changeFor(change));
    if (!found) return undefined;
    const { response } = found;
    const ifRecent = (shared: Response | undefined) => (found.head >= this.#head ? shared : undefined);
    return isPromise(response) ? response.then(ifRecent) : ifRecent(response);
  }

  /** Called before the response is computed. Undefined if there is no other subscription to share it with. */
  begin(change: ReportedChange): SharedResponse | undefined {
    const rightsKey = this.#findRightsKey();
    return rightsKey ? this.#responses.begin(rightsKey, this.#changeFor(change)) : undefined;
  }

  /** Called when the snapshot is open. False if the viewer's rights in it differ from the cached rights. */
  isSharedFrom({ position, access }: LatestAccess, begun: SharedResponse): boolean {
    return begun.rightsKey === this.#rightsKeyOf(position.accessNumber, access);
  }

  leave(): void {
    this.#responses.leave(this.#group);
  }

  #rightsKeyOf(accessNumber: number, { rightsKey }: Access): string {
    return `${this.#group.key} ${accessNumber} ${rightsKey}`;
  }

  /** The key of group and rights; undefined if the response cannot be shared. */
  #findRightsKey(): string | undefined {
    if (this.#group.members === 1) return undefined;
    const rights = this.#responses.rightsOf(this.#userId);
    if (rights && rights !== this.#rights) {
      this.#rights = rights;
      this.#rightsKey = this.#rightsKeyOf(rights.number, rights.access);
    }
    return rights && this.#rightsKey;
  }

  #changeFor(change: ReportedChange): ChangeFor {
    return { change, isOwn: change.entry?.byUserId === this.#userId };
  }
}

/** A response that one subscription computes, and others wait for. */
export class SharedResponse {
  readonly rightsKey: string;
  readonly #change: ChangeFor;
  readonly #onSettled: (response: Response | undefined) => void;
  /** The last entry in the snapshot of the response, once that is open. */
  head = -1;
  #response: Response | undefined;
  #waiting: PromiseWithResolvers<Response | undefined> | undefined;

  constructor(rightsKey: string, change: ChangeFor, onSettled: (response: Response | undefined) => void) {
    this.rightsKey = rightsKey;
    this.#change = change;
    this.#onSettled = onSettled;
  }

  get response(): PromiseOrValue<Response | undefined> {
    if (this.#response !== undefined) return this.#response;
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }

  isFor({ change, isOwn }: ChangeFor): boolean {
    return isOwn === this.#change.isOwn && isSame(change, this.#change.change);
  }

  /** Returns the response with its text encoded once for all subscriptions. */
  settle(response: Response): Response {
    this.#response = response && withSharedBytes(response);
    this.#onSettled(this.#response);
    this.#waiting?.resolve(this.#response);
    return this.#response;
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

function withSharedBytes(response: GraphResult): GraphResult {
  let bytes: Buffer | undefined;
  return { ...response, bytes: () => (bytes ??= Buffer.from(response.text)) };
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
