/**
 * A server with a tree, people, groups, sessions and keys, and three API keys that are confined to one folder. Every object outside this
 * folder has texts that occur nowhere else, the markers.
 */

import { databaseKinds, type DatabaseKind } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';

export interface ConfinedKey {
  readonly name: string;
  readonly key: string;
  /** A user with the same level on the folder of the key, and no other rights. */
  readonly twinToken: string;
  /** Whether the key manages its folder, and therefore finds the names of all users and groups. */
  readonly isManager: boolean;
}

export interface Marker {
  readonly name: string;
  readonly text: string;
  /** Whether everyone who manages a folder may read it. */
  readonly isForManagers?: boolean;
}

const unknownId = '019c1407-aa00-7abc-8def-0123456789ab';

export class ConfinedWorld {
  readonly people: PeopleTestbed;
  readonly keys: ConfinedKey[] = [];
  readonly markers: Marker[] = [];
  /** Folders that the keys do not see at all: in the tree and in the trash. */
  readonly hiddenIds: string[] = [];
  readonly hiddenNames: string[] = [];
  /** An ancestor of the folder of the keys. */
  topId = '';
  placeId = '';
  roomId = '';
  /** Deleted from the folder of the keys. */
  trashedId = '';
  readonly userIds: string[] = [];
  readonly usernames: string[] = [];
  readonly groupIds: string[] = [];
  readonly groupNames: string[] = [];
  readonly sessionIds: string[] = [];
  readonly keyIds: string[] = [];
  /** The users of the keys and of the twins. */
  readonly ownIds: string[] = [];
  firstCursor = '';
  #count = 0;

  static async start(kind: DatabaseKind = databaseKinds[0]!): Promise<ConfinedWorld> {
    const world = new ConfinedWorld(
      // Tests read many fields with one query.
      await PeopleTestbed.start(kind, { settings: { AUTH_TOKEN_SECONDS: '3600', MAX_FIELDS: '5000' } }),
    );
    await world.#setUp();
    return world;
  }

  private constructor(people: PeopleTestbed) {
    this.people = people;
  }

  get unknownId(): string {
    return unknownId;
  }

  get folderIds(): readonly string[] {
    return [this.topId, this.placeId, this.roomId, this.trashedId, ...this.hiddenIds, unknownId];
  }

  stop(): Promise<void> {
    return this.people.stop();
  }

  async #setUp(): Promise<void> {
    const { people } = this;
    this.firstCursor = (await people.query<{ cursor: string }>('{cursor}')).cursor;
    const { viewer, folder } = await people.query<{
      viewer: { user: { id: string } };
      folder: { id: string };
    }>('{viewer{user{id}} folder{id}}');
    const ann = await people.createUser({ username: 'ann' });
    const annToken = await this.#logIn(ann);
    this.topId = await this.#createFolder('Top', folder.id, { isName: false });
    await people.mutate('grantAccess', { folderId: this.topId, userId: ann.id, level: 'MANAGE' });
    this.placeId = await this.#create({ name: 'Place', parentId: this.topId }, annToken);
    this.roomId = await this.#create({ name: 'Room', parentId: this.placeId, title: 'A room' }, annToken);
    this.trashedId = await this.#create({ name: 'Trashed', parentId: this.placeId }, annToken);
    await people.mutate('deleteFolder', { id: this.trashedId }, '__typename', annToken);
    const sibling = await this.#hide('sibling', this.topId);
    await this.#hide('child', sibling);
    const secret = await this.#hide('secret', folder.id);
    await people.mutate('deleteFolder', { id: await this.#hide('deleted', this.topId) });
    await this.#addPeople(ann, secret);
    for (const folderId of [sibling, secret, this.topId]) {
      await people.mutate('setFavorite', { folderId, isFavorite: true });
      await people.mutate('visitFolder', { folderId });
    }
    for (const folderId of [sibling, this.topId]) {
      await people.mutate('setFavorite', { folderId, isFavorite: true }, '__typename', annToken);
      await people.mutate('visitFolder', { folderId }, '__typename', annToken);
    }
    await people.mutate('updateFolder', { id: this.roomId, title: 'A new title' }, '__typename', annToken);
    this.ownIds.push(ann.id, viewer.user.id);
    await this.#addKey('a WRITE key of a person', 'WRITE', annToken);
    await this.#addKey('a MANAGE key of a person', 'MANAGE', annToken);
    await this.#addKey('a MANAGE key of an administrator', 'MANAGE', people.authToken);
    await people.server.purge();
  }

  /** People, groups, sessions and keys that no key may read, except names by managers. */
  async #addPeople(ann: Person, secret: string): Promise<void> {
    const { people } = this;
    const username = this.#mark('user', { isForManagers: true });
    const other = await people.createUser({ username });
    this.#markId('user', other.id, { isForManagers: true });
    this.userIds.push(other.id);
    this.usernames.push(username);
    const groupName = this.#mark('group', { isForManagers: true });
    const groupId = await people.createGroup(groupName);
    this.#markId('group', groupId, { isForManagers: true });
    this.groupIds.push(groupId);
    this.groupNames.push(groupName);
    await people.mutate('addToGroup', { groupId, userIds: [ann.id, other.id] });
    await people.mutate('grantAccess', { folderId: this.topId, groupId, level: 'READ' });
    await people.mutate('grantAccess', { folderId: secret, userId: other.id, level: 'WRITE' });
    for (const person of [ann, other]) {
      const token = await this.#logIn(person);
      const { viewer } = await people.query<{ viewer: { session: { id: string } } }>(
        '{viewer{session{id}}}',
        {},
        token,
      );
      this.#markId('session', viewer.session.id);
      this.sessionIds.push(viewer.session.id);
      const name = this.#mark('API key');
      const { key, apiKey } = await this.#createKey({ name, level: 'READ' }, token);
      this.#markId('API key', apiKey.id);
      this.#markId('identifier of an API key', key.slice(4, 20));
      this.keyIds.push(apiKey.id);
    }
  }

  async #addKey(name: string, level: 'WRITE' | 'MANAGE', authToken: string): Promise<void> {
    const { key } = await this.#createKey({ name: 'confined', level, folderId: this.placeId }, authToken);
    const twin = await this.people.createUser({ username: `twin ${++this.#count}` });
    await this.people.mutate('grantAccess', { folderId: this.placeId, userId: twin.id, level });
    this.ownIds.push(twin.id);
    const twinToken = (await this.people.logIn(twin)).authToken;
    this.keys.push({ name, key, twinToken, isManager: level === 'MANAGE' });
  }

  #createKey(input: Variables, authToken: string) {
    return this.people.mutate<{ key: string; apiKey: { id: string } }>(
      'createApiKey',
      input,
      'key apiKey{id}',
      authToken,
    );
  }

  async #hide(name: string, parentId: string): Promise<string> {
    const id = await this.#createFolder(this.#mark(name), parentId, { isName: true });
    this.#markId(`folder ${name}`, id);
    this.hiddenIds.push(id);
    return id;
  }

  async #createFolder(name: string, parentId: string, { isName }: { isName: boolean }): Promise<string> {
    if (isName) this.hiddenNames.push(name);
    const title = this.#mark(`title of ${name}`);
    if (isName) this.hiddenNames.push(title);
    const [description, value] = [this.#mark(`description of ${name}`), this.#mark(`property of ${name}`)];
    const input = { name, parentId, title, description, properties: { [value]: value } };
    return this.#create(input, this.people.authToken);
  }

  async #create(input: Variables, authToken: string): Promise<string> {
    const { folder } = await this.people.mutate<{ folder: { id: string } }>(
      'createFolder',
      input,
      'folder{id}',
      authToken,
    );
    return folder.id;
  }

  /** Logs in with a `User-Agent` that is a marker. */
  async #logIn({ username, password }: Person): Promise<string> {
    const headers = { 'content-type': 'application/json', 'user-agent': this.#mark('user agent') };
    const response = await this.people.server.postRaw(
      '/login',
      JSON.stringify({ username, password }),
      headers,
    );
    return response.json<{ authToken: string }>().authToken;
  }

  /** Returns a text that occurs nowhere else. */
  #mark(name: string, options: { isForManagers?: boolean } = {}): string {
    const text = `marker${++this.#count}x`;
    this.markers.push({ name, text, ...options });
    return text;
  }

  #markId(name: string, text: string, options: { isForManagers?: boolean } = {}): void {
    this.markers.push({ name: `id of the ${name}`, text, ...options });
  }
}
