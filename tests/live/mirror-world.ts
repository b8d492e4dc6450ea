/** Eight people with different rights, a tree, and mirrors of what each of them sees; and what each saw, and when. */

import assert from 'node:assert/strict';
import type { DatabaseKind } from '../databases.ts';
import { mutation } from '../graph-bed.ts';
import type { JournalEntry } from '../../server/src/journal/journal-entry.ts';
import { MirrorBed } from './mirror-bed.ts';
import { Watcher, type Pace } from './mirror-watcher.ts';
import type { Change } from './mirror.ts';
import { toldAs } from './told-as.ts';

type Variables = Readonly<Record<string, unknown>>;

export interface TreeFolder {
  readonly id: string;
  readonly accessLevel: string;
  readonly parent: { readonly id: string } | null;
}

export interface Person {
  readonly id: string;
  readonly name: string;
  isAdministrator: boolean;
  isDisabled: boolean;
  readonly watchers: Watcher[];
  /** What they see, without the root, by the newest state. */
  seen: readonly TreeFolder[];
  /** What they saw at each state. */
  readonly history: Levels[];
}

/** By the ids of folders. */
type Levels = ReadonlyMap<string, string>;

export interface Grant {
  readonly folderId: string;
  readonly subject: Subject;
}

export type Subject = { readonly userId: string } | { readonly groupId: string };

/** The administrator first. */
const names = ['admin', 'reader', 'writer', 'deep', 'deeper', 'member', 'guest', 'nobody'];
const paces: readonly Pace[] = ['prompt', 'slow', 'prompt', 'prompt', 'slow'];
const readSeen = '{folder{id accessLevel parent{id} descendants{items{id accessLevel parent{id}}}}}';

const toldKinds: Partial<Record<JournalEntry['kind'], Change['kind']>> = toldAs;

export class MirrorWorld {
  readonly bed: MirrorBed;
  readonly people: Person[] = [];
  readonly groupIds: string[] = [];
  readonly grants: Grant[] = [];
  readonly trash: string[] = [];
  rootId = '';
  /** The number of the last entry at each state. */
  readonly #places: number[] = [];
  readonly #entries: JournalEntry[] = [];
  #count = 0;

  static async start(kind: DatabaseKind): Promise<MirrorWorld> {
    const world = new MirrorWorld(await MirrorBed.start(kind));
    await world.#settle();
    return world;
  }

  private constructor(bed: MirrorBed) {
    this.bed = bed;
  }

  get administrator(): Person {
    return this.people[0]!;
  }

  get watchers(): readonly Watcher[] {
    return this.people.flatMap(({ watchers }) => watchers);
  }

  /** All that is on the tree, but the root. */
  get tree(): readonly TreeFolder[] {
    return this.administrator.seen;
  }

  /** A name that nothing has yet. */
  newName(): string {
    return `n${++this.#count}`;
  }

  async stop(): Promise<void> {
    for (const watcher of this.watchers) await watcher.cut();
    await this.bed.stop();
  }

  /** Answers with the payload, or nothing if it is refused. */
  async run<Payload>(person: Person, name: string, input: Variables, selection = '__typename') {
    const { data, errors } = await this.bed.run<Record<string, Payload>>(
      person.id,
      mutation(name, selection),
      { input },
    );
    const codes = errors?.map(({ extensions }) => extensions?.code);
    assert.ok(!codes?.includes('INTERNAL') && this.bed.bugs.length === 0, String(this.bed.bugs[0]));
    return errors ? undefined : data![name]!;
  }

  async grant(by: Person, { folderId, subject }: Grant, level: string): Promise<void> {
    const done = await this.run(by, 'grantAccess', { folderId, ...subject, level });
    if (done) this.grants.push({ folderId, subject });
  }

  /** After each operation: what everybody sees now; and who keeps up takes what has happened. */
  async observe(): Promise<void> {
    const { number: place } = await this.bed.place();
    if (place !== this.#places.at(-1)) {
      this.#entries.push(...(await this.bed.entriesAfter(this.#places.at(-1) ?? 0)));
      this.#places.push(place);
      for (const person of this.people) await this.#look(person);
    }
    for (const watcher of this.watchers) if (watcher.pace === 'prompt') await watcher.take();
  }

  async check(watchers: readonly Watcher[]): Promise<void> {
    for (const watcher of watchers) await watcher.check();
  }

  /** The administrator's mirrors of the whole tree are told every entry of the tree, once and in order. */
  checkAdministrator(): void {
    for (const watcher of this.administrator.watchers.slice(0, 2)) {
      const entries = this.#entries.filter(
        ({ kind, number }) => number > this.#watchedFrom && toldKinds[kind],
      );
      assert.deepEqual(
        watcher.told.map(({ kind, folderId, cursor }) => [kind, folderId, this.bed.numberOf(cursor)]),
        entries.map(({ kind, folderId, number }) => [toldKinds[kind], folderId, number]),
        watcher.name,
      );
    }
  }

  #watchedFrom = 0;

  async #settle(): Promise<void> {
    const admin = this.#join(await this.bed.administratorId(), 'admin');
    admin.isAdministrator = true;
    for (const name of names.slice(1)) {
      const input = { username: name, password: `walnut cabin of ${name}` };
      const made = await this.run<{ user: { id: string } }>(admin, 'createUser', input, 'user{id}');
      this.#join(made!.user.id, name);
    }
    for (const name of ['first', 'second']) this.groupIds.push(await this.createGroup(name));
    const branch = (depth: number): object[] =>
      ['a', 'b', 'c'].map((name) => ({ name, folders: depth > 1 ? branch(depth - 1) : [] }));
    await this.run(admin, 'importFolders', { tree: branch(3) });
    await this.#look(admin);
    await this.#share();
    await this.observe();
    this.#watchedFrom = this.#places.at(-1)!;
    for (const person of this.people) {
      for (const [slot, watcher] of person.watchers.entries()) {
        await watcher.open(slot < 2 ? undefined : person.seen[slot * 5]?.id);
      }
    }
  }

  async createGroup(name: string): Promise<string> {
    const input = { name };
    const made = await this.run<{ group: { id: string } }>(
      this.administrator,
      'createGroup',
      input,
      'group{id}',
    );
    return made!.group.id;
  }

  #join(id: string, name: string): Person {
    const ask = async <Data>(query: string, variables: Variables) => {
      const { data, errors } = await this.bed.run<Data>(id, query, variables);
      assert.equal(errors, undefined, `${query} ${JSON.stringify(errors)} ${String(this.bed.bugs[0])}`);
      return data!;
    };
    const person: Person = {
      id,
      name,
      isAdministrator: false,
      isDisabled: false,
      seen: [],
      history: [],
      watchers: paces.map(
        (pace, slot) =>
          new Watcher({
            name: `${name} ${slot}`,
            pace,
            userId: id,
            source: this.bed.openSource(),
            ask,
            onChange: (change, isBehind) => this.#checkMayKnow(person, change, isBehind),
          }),
      ),
    };
    this.people.push(person);
    return person;
  }

  async #share(): Promise<void> {
    const [admin, reader, writer, deep, deeper, member, guest] = this.people as [Person, ...Person[]];
    const folder = (place: number) => this.tree[place]!.id;
    const give = (place: number | undefined, subject: Subject, level: string) =>
      this.grant(admin, { folderId: place === undefined ? this.rootId : folder(place), subject }, level);
    await give(undefined, { userId: reader!.id }, 'READ');
    await give(4, { userId: reader!.id }, 'NONE');
    await give(0, { userId: writer!.id }, 'WRITE');
    await give(13, { userId: writer!.id }, 'MANAGE');
    await give(16, { userId: deep!.id }, 'READ');
    await give(29, { userId: deeper!.id }, 'WRITE');
    await give(26, { groupId: this.groupIds[0]! }, 'READ');
    await give(27, { groupId: this.groupIds[0]! }, 'NONE');
    await give(1, { groupId: this.groupIds[1]! }, 'WRITE');
    const add = (place: number, person: Person) =>
      this.run(admin, 'addToGroup', { groupId: this.groupIds[place], userIds: [person.id] });
    await add(0, member!);
    await add(1, member!);
    await add(1, guest!);
  }

  async #look(person: Person): Promise<void> {
    if (person.isDisabled) {
      person.seen = [];
      person.history.push(new Map());
      return;
    }
    const { data } = await this.bed.run<{
      folder: TreeFolder & { descendants: { items: TreeFolder[] } };
    }>(person.id, readSeen);
    const { descendants, ...root } = data!.folder;
    this.rootId = root.id;
    person.seen = descendants.items;
    person.history.push(new Map([root, ...person.seen].map(({ id, accessLevel }) => [id, accessLevel])));
  }

  /**
   * Only of folders that they saw when it happened, or before it, or since. Who is behind is judged by the access they
   * have by now: then it is enough that they read one above it since.
   */
  #checkMayKnow(person: Person, change: Change, isBehind: boolean): void {
    const { kind, cursor, folderId, folder, oldParent, newParent } = change;
    const number = this.bed.numberOf(cursor);
    const first = this.#places.findLastIndex((place) => place < number);
    const states = person.history.slice(Math.max(0, first));
    const ofEntry = this.#entries.filter((entry) => entry.number === number || entry.number === number + 1);
    const above = ofEntry.flatMap(({ way, oldWay }) => [...(way ?? []), ...(oldWay ?? [])]);
    for (const named of [folderId, folder?.id, folder?.parent?.id, oldParent?.id, newParent?.id]) {
      const isRead = (levels: Levels) => above.some((each) => (levels.get(each) ?? 'NONE') !== 'NONE');
      const isFine =
        !named ||
        states.some((levels) => levels.has(named) || (isBehind && named === folderId && isRead(levels)));
      assert.ok(
        isFine,
        `${person.name} is told of ${named}, never seen: ${kind} ${folderId}, entry ${number}`,
      );
    }
  }
}
