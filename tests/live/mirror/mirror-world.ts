/**
 * Eight people with different rights, four API keys, a tree, mirrors for each of these viewers, and a history of the
 * folders that each viewer saw.
 */

import assert from 'node:assert/strict';
import type { DatabaseKind } from '../../support/databases.ts';
import { mutation } from '../../support/graph-testbed.ts';
import type { JournalEntry } from '../../../server/src/journal/journal-entry.ts';
import { MirrorTestbed, type RightsOf } from './mirror-testbed.ts';
import { Watcher, type Pace } from './mirror-watcher.ts';
import type { Change } from './mirror.ts';
import { changeKindByEntry } from '../change-kinds.ts';

type Variables = Readonly<Record<string, unknown>>;

export interface TreeFolder {
  readonly id: string;
  readonly accessLevel: string;
  readonly parent: { readonly id: string } | null;
}

/** A user, or an API key of a user. */
export interface Person {
  /** The id of the user. */
  readonly id: string;
  readonly name: string;
  /** Undefined for a user. */
  apiKeyId: string | undefined;
  isAdministrator: boolean;
  isDisabled: boolean;
  readonly watchers: Watcher[];
  /** The folders that the person sees in the newest state, without the root. */
  visibleFolders: readonly TreeFolder[];
  /** The access levels of the person in each state. */
  readonly history: Levels[];
}

/** Access levels by folder id. */
type Levels = ReadonlyMap<string, string>;

export interface Grant {
  readonly folderId: string;
  readonly subject: Subject;
}

export type Subject = { readonly userId: string } | { readonly groupId: string };

/** The first one is the administrator. */
const names = ['admin', 'reader', 'writer', 'deep', 'deeper', 'member', 'guest', 'nobody'];
/** The indexes of the people who have an API key. */
const keyOwners = [0, 1, 2, 5];
const paces: readonly Pace[] = ['prompt', 'slow', 'prompt', 'prompt', 'slow'];
const visibleFoldersQuery =
  '{folder{id accessLevel parent{id} descendants{items{id accessLevel parent{id}}}}}';

const changeKinds: Partial<Record<JournalEntry['kind'], Change['kind']>> = changeKindByEntry;

export class MirrorWorld {
  readonly testbed: MirrorTestbed;
  readonly people: Person[] = [];
  readonly groupIds: string[] = [];
  readonly grants: Grant[] = [];
  readonly trash: string[] = [];
  rootId = '';
  /** The number of the last journal entry in each state. */
  readonly #heads: number[] = [];
  readonly #entries: JournalEntry[] = [];
  #count = 0;

  static async start(kind: DatabaseKind): Promise<MirrorWorld> {
    const world = new MirrorWorld(await MirrorTestbed.start(kind));
    await world.#setUp();
    return world;
  }

  private constructor(testbed: MirrorTestbed) {
    this.testbed = testbed;
  }

  /** The viewers that are not API keys. */
  get users(): readonly Person[] {
    return this.people.filter(({ apiKeyId }) => apiKeyId === undefined);
  }

  get administrator(): Person {
    return this.people[0]!;
  }

  get watchers(): readonly Watcher[] {
    return this.people.flatMap(({ watchers }) => watchers);
  }

  /** All folders except the root. */
  get tree(): readonly TreeFolder[] {
    return this.administrator.visibleFolders;
  }

  /** Returns an unused name. */
  newName(): string {
    return `n${++this.#count}`;
  }

  async stop(): Promise<void> {
    for (const watcher of this.watchers) await watcher.disconnect();
    await this.testbed.stop();
  }

  /** Returns the payload, or undefined if the operation is refused. */
  async run<Payload>(person: Person, name: string, input: Variables, selection = '__typename') {
    const { data, errors } = await this.testbed.run<Record<string, Payload>>(
      rightsOf(person),
      mutation(name, selection),
      { input },
    );
    const codes = errors?.map(({ extensions }) => extensions?.code);
    assert.ok(!codes?.includes('INTERNAL') && this.testbed.bugs.length === 0, String(this.testbed.bugs[0]));
    return errors ? undefined : data![name]!;
  }

  async grant(by: Person, { folderId, subject }: Grant, level: string): Promise<void> {
    const payload = await this.run(by, 'grantAccess', { folderId, ...subject, level });
    if (payload) this.grants.push({ folderId, subject });
  }

  /**
   * Called after each operation. Records what each person sees, and lets prompt watchers take their changes.
   */
  async observe(): Promise<void> {
    const { number: head } = await this.testbed.awaitFeed();
    if (head !== this.#heads.at(-1)) {
      this.#entries.push(...(await this.testbed.entriesAfter(this.#heads.at(-1) ?? 0)));
      this.#heads.push(head);
      for (const person of this.people) await this.#recordView(person);
    }
    for (const watcher of this.watchers) if (watcher.pace === 'prompt') await watcher.take();
  }

  async check(watchers: readonly Watcher[]): Promise<void> {
    for (const watcher of watchers) await watcher.check();
  }

  /**
   * Asserts that the administrator's mirrors of the whole tree received every folder entry once and in order.
   */
  checkAdministrator(): void {
    for (const watcher of this.administrator.watchers.slice(0, 2)) {
      const entries = this.#entries.filter(
        ({ kind, number }) => number > this.#lastUnwatchedNumber && changeKinds[kind],
      );
      assert.deepEqual(
        watcher.received.map(({ kind, folderId, cursor }) => [
          kind,
          folderId,
          this.testbed.entryNumber(cursor),
        ]),
        entries.map(({ kind, folderId, number }) => [changeKinds[kind], folderId, number]),
        watcher.name,
      );
    }
  }

  #lastUnwatchedNumber = 0;

  async #setUp(): Promise<void> {
    const admin = this.#join(await this.testbed.administratorId(), 'admin');
    admin.isAdministrator = true;
    for (const name of names.slice(1)) {
      const input = { username: name, password: `walnut cabin of ${name}` };
      const created = await this.run<{ user: { id: string } }>(admin, 'createUser', input, 'user{id}');
      this.#join(created!.user.id, name);
    }
    for (const name of ['first', 'second']) this.groupIds.push(await this.createGroup(name));
    const branch = (depth: number): object[] =>
      ['a', 'b', 'c'].map((name) => ({ name, folders: depth > 1 ? branch(depth - 1) : [] }));
    await this.run(admin, 'importFolders', { tree: branch(3) });
    await this.#recordView(admin);
    await this.#grantLevels();
    for (const [at, owner] of keyOwners.entries()) {
      const { id, name } = this.people[owner]!;
      const level = (['WRITE', 'READ', 'MANAGE', 'READ'] as const)[at]!;
      await this.replaceKey(this.#join(id, `a key of ${name}`), {
        level,
        folderId: this.tree[[13, 17, 1, 26][at]!]!.id,
      });
    }
    assert.ok(this.people.some(({ apiKeyId }) => apiKeyId !== undefined));
    await this.observe();
    this.#lastUnwatchedNumber = this.#heads.at(-1)!;
    for (const person of this.people) {
      for (const [slot, watcher] of person.watchers.entries()) {
        await watcher.open(slot < 2 ? undefined : person.visibleFolders[slot * 5]?.id);
      }
    }
  }

  /** Gives the viewer a new API key. Without rights on the folder, the viewer keeps the old one. */
  async replaceKey(viewer: Person, limits: { level: string; folderId: string | null }): Promise<void> {
    const owner = this.people.find(({ id }) => id === viewer.id)!;
    type Payload = { apiKey: { id: string } };
    const created = await this.run<Payload>(owner, 'createApiKey', { name: 'key', ...limits }, 'apiKey{id}');
    if (created) viewer.apiKeyId = created.apiKey.id;
  }

  async createGroup(name: string): Promise<string> {
    const input = { name };
    const created = await this.run<{ group: { id: string } }>(
      this.administrator,
      'createGroup',
      input,
      'group{id}',
    );
    return created!.group.id;
  }

  #join(id: string, name: string): Person {
    const runQuery = async <Data>(query: string, variables: Variables) => {
      const { data, errors } = await this.testbed.run<Data>(rightsOf(person), query, variables);
      assert.equal(errors, undefined, `${query} ${JSON.stringify(errors)} ${String(this.testbed.bugs[0])}`);
      return data!;
    };
    const person: Person = {
      id,
      name,
      apiKeyId: undefined,
      isAdministrator: false,
      isDisabled: false,
      visibleFolders: [],
      history: [],
      watchers: paces.map(
        (pace, slot) =>
          new Watcher({
            name: `${name} ${slot}`,
            pace,
            rights: () => rightsOf(person),
            source: this.testbed.openSource(),
            runQuery,
            onChange: (change, isBehind) => this.#checkMayReceive(person, change, isBehind),
          }),
      ),
    };
    this.people.push(person);
    return person;
  }

  async #grantLevels(): Promise<void> {
    const [admin, reader, writer, deep, deeper, member, guest] = this.people as [Person, ...Person[]];
    const folder = (index: number) => this.tree[index]!.id;
    const grantTo = (index: number | undefined, subject: Subject, level: string) =>
      this.grant(admin, { folderId: index === undefined ? this.rootId : folder(index), subject }, level);
    await grantTo(undefined, { userId: reader!.id }, 'READ');
    await grantTo(4, { userId: reader!.id }, 'NONE');
    await grantTo(0, { userId: writer!.id }, 'WRITE');
    await grantTo(13, { userId: writer!.id }, 'MANAGE');
    await grantTo(16, { userId: deep!.id }, 'READ');
    await grantTo(29, { userId: deeper!.id }, 'WRITE');
    await grantTo(26, { groupId: this.groupIds[0]! }, 'READ');
    await grantTo(27, { groupId: this.groupIds[0]! }, 'NONE');
    await grantTo(1, { groupId: this.groupIds[1]! }, 'WRITE');
    const add = (index: number, person: Person) =>
      this.run(admin, 'addToGroup', { groupId: this.groupIds[index], userIds: [person.id] });
    await add(0, member!);
    await add(1, member!);
    await add(1, guest!);
  }

  async #recordView(person: Person): Promise<void> {
    if (person.isDisabled) {
      person.visibleFolders = [];
      person.history.push(new Map());
      return;
    }
    const { data } = await this.testbed.run<{
      folder: TreeFolder & { descendants: { items: TreeFolder[] } };
    }>(rightsOf(person), visibleFoldersQuery);
    const { descendants, ...root } = data!.folder;
    this.rootId = root.id;
    person.visibleFolders = descendants.items;
    person.history.push(
      new Map([root, ...person.visibleFolders].map(({ id, accessLevel }) => [id, accessLevel])),
    );
  }

  /**
   * A change may name only folders that the person saw just before it, when it happened, or since. For a
   * watcher that is behind, the server checks the current access. Then it is enough if the person could read
   * an ancestor in one of these states.
   */
  #checkMayReceive(person: Person, change: Change, isBehind: boolean): void {
    const { kind, cursor, folderId, folder, oldParent, newParent } = change;
    const number = this.testbed.entryNumber(cursor);
    const first = this.#heads.findLastIndex((head) => head < number);
    const states = person.history.slice(Math.max(0, first));
    const entries = this.#entries.filter((entry) => entry.number === number || entry.number === number + 1);
    const pathIds = entries.flatMap((entry) => [...(entry.pathIds ?? []), ...(entry.oldPathIds ?? [])]);
    for (const mentionedId of [folderId, folder?.id, folder?.parent?.id, oldParent?.id, newParent?.id]) {
      const isRead = (levels: Levels) => pathIds.some((each) => (levels.get(each) ?? 'NONE') !== 'NONE');
      const isAllowed =
        !mentionedId ||
        states.some(
          (levels) => levels.has(mentionedId) || (isBehind && mentionedId === folderId && isRead(levels)),
        );
      assert.ok(
        isAllowed,
        `${person.name} received ${mentionedId}, which was never visible: ${kind} ${folderId}, entry ${number}`,
      );
    }
  }
}

function rightsOf({ id, apiKeyId }: Person): RightsOf {
  return apiKeyId === undefined ? id : { userId: id, apiKeyId };
}
