/**
 * The graph with its database and journal in this process, without sockets. A test decides when each stream
 * reads its next change, and can detect that none is left. Therefore, every run with the same seed has the same steps.
 */

import assert from 'node:assert/strict';
import { readSettings } from 'espalier';
import { Activity } from '../../../server/src/observability/activity.ts';
import { AccessCache } from '../../../server/src/access/access-cache.ts';
import { Passwords } from '../../../server/src/accounts/passwords.ts';
import { readUserByName } from '../../../server/src/accounts/users.ts';
import type { Database, DatabaseOptions, Reader } from '../../../server/src/database/database.ts';
import { sql } from '../../../server/src/database/statement.ts';
import { openDatabase } from '../../../server/src/database/open-database.ts';
import { prepareInstallation } from '../../../server/src/startup/installation.ts';
import { purgeTrash } from '../../../server/src/folders/purge.ts';
import {
  createGraph,
  type Graph,
  type GraphOptions,
  type GraphResult,
  type GraphStream,
} from '../../../server/src/graph/graph.ts';
import type { Limits } from '../../../server/src/graph/cost/limits.ts';
import {
  fromJournalCursor,
  readEntries,
  type JournalEntry,
  type JournalPosition,
} from '../../../server/src/journal/journal-entry.ts';
import { JournalFeed } from '../../../server/src/journal/journal-feed.ts';
import { readHead } from '../../../server/src/journal/journal.ts';
import { KeyEncryption } from '../../../server/src/sessions/signing-keys.ts';
import { LoginThrottle } from '../../../server/src/sessions/login-throttle.ts';
import type { DatabaseKind } from '../../support/databases.ts';
import { failOnPlanFailure, minPasswordCost, TestClock } from '../../support/testbed.ts';
import type { Change } from './mirror.ts';

export interface GraphResponse<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

type Variables = Readonly<Record<string, unknown>>;

/** The id of a user, or an API key of a user. */
export type RightsOf = string | { readonly userId: string; readonly apiKeyId: string };

type MirrorTestbedOptions = Pick<DatabaseOptions, 'onStatement'> &
  Partial<Pick<GraphOptions, 'onQuery' | 'onPlanFailure'>>;

export class MirrorTestbed {
  readonly #services: GraphOptions;
  readonly #graph: Graph;
  readonly #remove: () => Promise<void>;
  readonly #clock: TestClock;
  /** Errors that any service reported. Tests expect none. */
  readonly bugs: unknown[];

  static async start(
    kind: DatabaseKind,
    limits: Partial<Limits> = {},
    { onQuery, onPlanFailure = failOnPlanFailure, ...options }: MirrorTestbedOptions = {},
  ): Promise<MirrorTestbed> {
    const testDatabase = await kind.createForServer();
    const environment = {
      ESPALIER_DATABASE_URL: testDatabase.url,
      ESPALIER_ADMIN_PASSWORD: 'walnut cabin 0',
    };
    const { settings } = readSettings({ environment });
    const clock = new TestClock();
    const bugs: unknown[] = [];
    const onBug = (error: unknown) => void bugs.push(error);
    const database = await openDatabase(settings.databaseUrl, clock, options);
    const passwords = new Passwords({ cost: minPasswordCost });
    const throttle = new LoginThrottle({ database, clock, installation: 'mirrors', isOn: true });
    const encryption = new KeyEncryption(undefined);
    await prepareInstallation({ database, passwords, encryption, now: clock.now(), settings });
    await database.transaction((transaction) =>
      transaction.run(insertSession, {
        id: sessionId,
        digest: new Uint8Array(32),
        expiresAt: tokenExpiresAt,
      }),
    );
    const services: GraphOptions = {
      database,
      clock,
      passwords,
      throttle,
      secondFactors: {} as GraphOptions['secondFactors'],
      viewTokens: { issue: () => assert.fail('Only an HTTP server has signing keys.') },
      feed: await JournalFeed.open({ database, onError: onBug }),
      limits: { ...settings, ...limits },
      trashDays: settings.trashDays,
      accessCache: new AccessCache(database),
      server: { activity: new Activity(clock) } as GraphOptions['server'],
      onBug,
      onUnavailable: onBug,
      onQuery,
      onPlanFailure,
    };
    return new MirrorTestbed(services, clock, bugs, () => testDatabase.remove());
  }

  private constructor(
    services: GraphOptions,
    clock: TestClock,
    bugs: unknown[],
    remove: () => Promise<void>,
  ) {
    this.#services = services;
    this.#graph = createGraph(services);
    this.#clock = clock;
    this.bugs = bugs;
    this.#remove = remove;
  }

  get #database(): Database {
    return this.#services.database;
  }

  get graph(): Graph {
    return this.#graph;
  }

  get reader(): Reader {
    return this.#database;
  }

  async stop(): Promise<void> {
    this.#services.feed.close();
    await this.#database.close();
    await this.#remove();
  }

  async run<Data>(rights: RightsOf, query: string, variables: Variables = {}): Promise<GraphResponse<Data>> {
    return JSON.parse(await this.runText(rights, query, variables)) as GraphResponse<Data>;
  }

  /** Returns the response text without parsing it. */
  async runText(rights: RightsOf, query: string, variables: Variables = {}): Promise<string> {
    return (await this.#graph.run({ query, variables }, createViewer(rights))).text;
  }

  /** Returns changed services for another graph. */
  changeServices(change: (services: GraphOptions) => GraphOptions): GraphOptions {
    return change(this.#services);
  }

  /** Creates a source of streams that reports when it is idle. Its graph may use changed services. */
  openSource(change: (services: GraphOptions) => GraphOptions = (services) => services): StreamSource {
    return new StreamSource(change(this.#services));
  }

  /** Waits until the feed has read the whole journal, and returns the head of the journal. */
  async awaitFeed(): Promise<JournalPosition> {
    const head = await readHead(this.#database);
    while (this.#services.feed.last < head.number) await new Promise(setImmediate);
    return head;
  }

  async entriesAfter(number: number): Promise<readonly JournalEntry[]> {
    return readEntries(this.#database, number, 1_000);
  }

  entryNumber(cursor: string): number {
    return fromJournalCursor(cursor, 'cursor').number;
  }

  async purge(days: number): Promise<void> {
    this.#clock.advanceSeconds(days * 86_400);
    await purgeTrash(this.#database, this.#clock.now(), this.#services.trashDays);
  }

  async administratorId(): Promise<string> {
    return (await readUserByName(this.#database, 'admin'))!.id;
  }
}

/** A graph that reports whether its stream is idle. It serves one stream at a time. */
export class StreamSource {
  readonly #graph: Graph;
  readonly #feed: JournalFeed;
  /** The number of the journal entry after which the stream waits, or undefined while it works. */
  #waitsAfter: number | undefined;

  constructor(services: GraphOptions) {
    const { feed } = services;
    this.#feed = feed;
    const waitForEntry: JournalFeed['waitForEntry'] = async (after, signal, key) => {
      this.#waitsAfter = after;
      await feed.waitForEntry(after, signal, key);
      this.#waitsAfter = undefined;
    };
    const observedFeed = new Proxy(feed, {
      get: (target, name) => {
        if (name === 'waitForEntry') return waitForEntry;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    this.#graph = createGraph({ ...services, feed: observedFeed });
  }

  get isIdle(): boolean {
    return this.#waitsAfter !== undefined && this.#waitsAfter >= this.#feed.last;
  }

  /** Returns undefined if the graph rejects the subscription. */
  async open(rights: RightsOf, query: string, variables: Variables): Promise<PulledStream | undefined> {
    this.#waitsAfter = undefined;
    const result = await this.#graph.open({ query, variables }, createViewer(rights));
    if (!('next' in result)) return undefined;
    const stream = new PulledStream(result, this);
    await stream.waitUntilReady();
    return stream;
  }
}

/** Requests the next change as soon as the last one was taken, as a socket does. */
export class PulledStream {
  readonly #stream: GraphStream;
  readonly #source: StreamSource;
  #next: IteratorResult<GraphResult, undefined> | undefined;
  #failure: unknown;

  constructor(stream: GraphStream, source: StreamSource) {
    this.#stream = stream;
    this.#source = source;
    this.#pull();
  }

  /** Waits until the next change is available or the source is idle. */
  async waitUntilReady(): Promise<void> {
    while (!this.#next && !this.#failure && !this.#source.isIdle) await new Promise(setImmediate);
  }

  /** Returns undefined if no change is pending. */
  async take(): Promise<Change | undefined> {
    await this.waitUntilReady();
    if (this.#failure) throw this.#failure as Error;
    const { value } = this.#next ?? {};
    if (!value) return undefined;
    const { data, errors } = JSON.parse(value.text) as GraphResponse<{ folderChanges: Change }>;
    if (errors) throw new Error(JSON.stringify(errors));
    this.#next = undefined;
    this.#pull();
    return data!.folderChanges;
  }

  async end(): Promise<void> {
    await this.#stream.return();
  }

  #pull(): void {
    const pull = async () => this.#stream.next();
    pull().then(
      (next) => (this.#next = next),
      (error: unknown) => (this.#failure = error),
    );
  }
}

/** The session of every viewer. It belongs to the first administrator, and never expires. */
const sessionId = '01890000-0000-7000-8000-00000000000e';
const tokenExpiresAt = 2 ** 45;
const insertSession = sql<{ id: string; digest: Uint8Array; expiresAt: number }>`
  insert into sessions (id, user_id, refresh_digest, created_at, refreshed_at, refresh_expires_at)
  select ${'id'}, id, ${'digest'}, 0, 0, ${'expiresAt'} from users`;

export function createViewer(rights: RightsOf) {
  if (typeof rights !== 'string') return { ...rights, sessionId: undefined, tokenExpiresAt: Infinity };
  return { userId: rights, sessionId, tokenExpiresAt };
}
