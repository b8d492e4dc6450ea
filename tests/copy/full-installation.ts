/** Creates an installation with some rows in every table. Its server has stopped. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { LoginResponse } from '@espalier/contract';
import type { DatabaseKind, TestDatabase } from '../support/databases.ts';
import { PeopleTestbed } from '../people/people-testbed.ts';
import { TestClock } from '../support/testbed.ts';
import { storeSignInRows } from './sign-in-rows.ts';
import { stageImport } from '../tree/stored-imports.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

export type Tokens = Pick<LoginResponse, 'authToken' | 'refreshToken'>;

export interface Installation {
  readonly database: TestDatabase;
  readonly clock: TestClock;
  /** Current tokens of the administrator. */
  readonly tokens: Tokens;
  /** Spent tokens of the administrator. A client may send them again if it did not receive the response. */
  readonly spentTokens: Tokens;
  /** The tokens that replaced the spent tokens. */
  readonly successor: Tokens;
}

export const settings = { REFRESH_RETRY_SECONDS: '600' };

export async function makeInstallation(kind: DatabaseKind): Promise<Installation> {
  const database = await kind.create();
  const clock = new TestClock();
  const people = await PeopleTestbed.start(kind, { database, clock, settings });
  const tree = new TreeTestbed(people.server, people.authToken);
  try {
    await createPeople(people, await createTree(tree, clock));
    const tokens = await people.server.logIn();
    const spentTokens = await people.server.logIn();
    const answer = await people.server.refresh(spentTokens);
    assert.equal(answer.status, 200);
    return { database, clock, tokens, spentTokens, successor: answer.json<Tokens>() };
  } finally {
    await people.stop();
  }
}

/** Returns the id of a folder in the tree. */
async function createTree(tree: TreeTestbed, clock: TestClock): Promise<string> {
  const first = await tree.create('Größe 10', undefined, {
    title: 'e\u0301t\u00e9 𝔊 👩‍👩‍👧',
    icon: '📁',
    description: 'Lines\r\nand\ttabs, "quotes", \\ and \u2028',
    properties: { zero: '\u0000', big: 1e21, nested: [null, true, { '': '' }] },
  });
  await tree.create('größe 9', first);
  clock.advanceSeconds(60);
  const later = await tree.create('Later');
  clock.advanceSeconds(60);
  // Moves the oldest folder into the newest one.
  await tree.move(first, await tree.create('Last', later));
  await tree.mutate('setFavorite', { folderId: first, isFavorite: true });
  await tree.mutate('visitFolder', { folderId: later });
  await tree.delete(await tree.create('Gone', first));
  const query = 'mutation{createFolder(input: {name: "Once"}){cursor}}';
  await tree.server.postRaw('/graphql', JSON.stringify({ query }), {
    'content-type': 'application/json',
    authorization: `Bearer ${tree.authToken}`,
    'idempotency-key': randomUUID(),
  });
  await stageImport(tree.server.database.url, { parentId: later, names: ['Half', 'way'], now: clock.now() });
  return first;
}

async function createPeople(people: PeopleTestbed, folderId: string): Promise<void> {
  const person = await people.createUser({ username: 'Ærøskøbing \u{1F642}' });
  const disabled = await people.createUser();
  const deleted = await people.createUser();
  const groupId = await people.createGroup('Leser*innen');
  await people.mutate('addToGroup', { groupId, userIds: [person.id] });
  await people.mutate('grantAccess', { folderId, groupId, level: 'READ' });
  await people.mutate('grantAccess', { folderId, userId: person.id, level: 'NONE' });
  const created = await people.mutate<{ key: string }>(
    'createApiKey',
    { name: 'Größe', level: 'READ' },
    'key',
  );
  await people.query('{folder{name}}', {}, created.key);
  const { viewer } = await people.query<{ viewer: { session: { id: string } } }>(
    '{viewer{session{id}}}',
    {},
    (await people.logIn(person)).authToken,
  );
  const { database, clock } = people.server;
  await storeSignInRows(database.url, { userId: person.id, sessionId: viewer.session.id, now: clock.now() });
  await people.logIn(disabled);
  await people.logIn(deleted);
  await people.mutate('updateUser', { id: disabled.id, isDisabled: true });
  await people.mutate('deleteUser', { id: deleted.id });
}
