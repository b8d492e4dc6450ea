/**
 * Subscriptions with the same document, variables and rights get the same response to a change. The response is computed once
 * and cached while the change is delivered. Each new journal entry drops the cached responses, because they come from older
 * snapshots.
 */

import { createHash, randomUUID } from 'node:crypto';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { CachedAccess, LatestAccess } from '../access/access-cache.ts';
import type { Access } from '../access/access.ts';
import type { FolderChange } from '../folders/change-feed/folder-changes.ts';
import type { JournalEvent } from '../journal/journal-subscription.ts';
import type { RightsHolder } from '../journal/journal.ts';
import { rightsHolderOf } from '../sessions/auth-token.ts';
import { isPromise, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { createFieldCheck, createVariableList, isPersonalField } from './field-marks.ts';
import type { GraphResult, Operation } from './operation.ts';
import type { GraphServices } from './schema/builder.ts';

/** A change that a subscription reports. */
export type ReportedChange = FolderChange | JournalEvent;

/** Subscriptions with the same document and variables; also with the same session, if the document has a personal field. */
interface Group {
  readonly key: string;
  members: number;
}

/** One subscription. */
export interface GroupMember {
  readonly group: Group;
  readonly holder: RightsHolder;
  /** The last entry in the snapshot that the subscription started from. */
  readonly head: number;
  /** The cached rights at the last lookup, and their key in the map of responses. */
  rights?: CachedAccess;
  responsesKey?: string;
}

/** Null if the response takes more than one slice. Each subscription then computes its own response. */
type Response = GraphResult | null;

/** The maximum number of characters in all cached responses. */
const maxCachedLength = 8 * 2 ** 20;
/**
 * How long responses are cached. If a client takes longer to read the previous response, its subscription computes its own
 * response.
 */
const cacheMs = 1_000;
/** The maximum number of cached responses for one group and rights. A subscription that is further behind computes its own. */
const maxCachedChanges = 20;

export class SharedResponses {
  readonly #services: GraphServices;
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

  constructor(schema: GraphQLSchema, services: GraphServices) {
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
    const { userId, sessionId, apiKeyId, view } = viewer;
    // Responses of a view are not shared: each one checks in its own snapshot that the view has not ended.
    const identity = view
      ? [randomUUID()]
      : this.#isPersonal(document)
        ? [userId, apiKeyId ?? sessionId]
        : [];
    const key = createHash('sha256')
      .update(JSON.stringify([query, operationName, variables, identity]))
      .digest('base64');
    const group = this.#groups.get(key) ?? { key, members: 0 };
    this.#groups.set(key, group);
    group.members++;
    return { group, holder: rightsHolderOf(viewer), head };
  }

  leave({ group }: GroupMember): void {
    if (--group.members === 0) this.#groups.delete(group.key);
  }

  /**
   * Returns the response to a change if another member of the group has computed it or is computing it; otherwise undefined.
   * The promise resolves with undefined if the response cannot be shared, and with null if it takes more than one slice.
   */
  find(member: GroupMember, change: ReportedChange): PromiseOrValue<Response | undefined> | undefined {
    const key = this.#responsesKeyOf(member);
    if (key === undefined) return undefined;
    this.#dropOld();
    const found = this.#responses.get(key)?.find((each) => each.isFor(change, member));
    if (!found) return undefined;
    const { response } = found;
    const ifRecent = (shared: Response | undefined) => (found.head >= member.head ? shared : undefined);
    return isPromise(response) ? response.then(ifRecent) : ifRecent(response);
  }

  /**
   * Called before the snapshot of a response is opened, so that the snapshot contains every entry of the feed. Undefined if there
   * is no other subscription to share the response with.
   */
  begin(member: GroupMember, change: ReportedChange): SharedResponse | undefined {
    const key = this.#responsesKeyOf(member);
    if (key === undefined) return undefined;
    this.#dropOld();
    const responses = this.#responses.get(key) ?? [];
    const sharedResponse = new SharedResponse(member, change, (response) =>
      this.#cache(responses, sharedResponse, response),
    );
    this.#responses.set(key, responses);
    responses.unshift(sharedResponse);
    if (responses.length > maxCachedChanges) responses.pop();
    this.#timer ??= setTimeout(() => this.#drop(), cacheMs).unref();
    return sharedResponse;
  }

  /** The key of group and rights; undefined if the response cannot be shared. */
  #responsesKeyOf(member: GroupMember): string | undefined {
    if (member.group.members === 1) return undefined;
    const rights = this.#services.accessCache.peek(member.holder);
    if (rights && rights !== member.rights) {
      member.rights = rights;
      member.responsesKey = toResponsesKey(member.group, rights.number, rights.access);
    }
    return rights && member.responsesKey;
  }

  #cache(responses: SharedResponse[], sharedResponse: SharedResponse, response: Response | undefined): void {
    const index = responses.indexOf(sharedResponse);
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

function toResponsesKey({ key }: Group, accessNumber: number, { rightsKey }: Access): string {
  return `${key} ${accessNumber} ${rightsKey}`;
}

/** A response that one subscription computes while others wait for it. */
class SharedResponse {
  readonly #member: GroupMember;
  readonly #responsesKey: string | undefined;
  readonly #change: ReportedChange;
  readonly #onSettled: (response: Response | undefined) => void;
  /** The last entry in the snapshot of the response; negative until the snapshot is open, or if the response is not shared. */
  head = -1;
  #response: Response | undefined;
  #waiting: PromiseWithResolvers<Response | undefined> | undefined;

  constructor(
    member: GroupMember,
    change: ReportedChange,
    onSettled: (response: Response | undefined) => void,
  ) {
    this.#member = member;
    this.#responsesKey = member.responsesKey;
    this.#change = change;
    this.#onSettled = onSettled;
  }

  get response(): PromiseOrValue<Response | undefined> {
    if (this.#response !== undefined) return this.#response;
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }

  /** The user who made a change always sees its `by`. Others with the same rights may not see it, so they get another response. */
  isFor(change: ReportedChange, { holder }: GroupMember): boolean {
    return isSame(change, this.#change) && isOwn(change, holder) === isOwn(this.#change, this.#member.holder);
  }

  /**
   * Called when the snapshot is open. The response is not shared if the viewer's rights in the snapshot differ from the cached
   * rights.
   */
  open({ position, access }: LatestAccess): void {
    if (toResponsesKey(this.#member.group, position.accessNumber, access) === this.#responsesKey) {
      this.head = position.number;
    } else this.#giveUp();
  }

  /** Returns the response. If the response is shared, its text is encoded once for all subscriptions. */
  settle(response: Response): Response {
    if (this.head < 0) {
      this.#giveUp();
      return response;
    }
    this.#response = response && withSharedBytes(response);
    this.#onSettled(this.#response);
    this.#waiting?.resolve(this.#response);
    return this.#response;
  }

  /** If the response is shared, the waiting subscriptions fail with the same error. Later subscriptions compute their own responses. */
  fail(error: unknown): void {
    if (this.head < 0) return this.#giveUp();
    this.#onSettled(undefined);
    this.#waiting?.reject(error);
  }

  /** The waiting subscriptions then compute their own responses. */
  #giveUp(): void {
    this.#onSettled(undefined);
    this.#waiting?.resolve(undefined);
  }
}

function isOwn({ entry }: ReportedChange, { userId }: RightsHolder): boolean {
  return entry?.byUserId === userId;
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
  if (!isSameEntry) return false;
  if (!isFolderChange(one) || !isFolderChange(other)) return isFolderChange(one) === isFolderChange(other);
  return (
    one.kind === other.kind &&
    one.folderId === other.folderId &&
    one.oldParentId === other.oldParentId &&
    one.newParentId === other.newParentId &&
    one.count === other.count
  );
}

function isFolderChange(change: ReportedChange): change is FolderChange {
  return 'kind' in change;
}
