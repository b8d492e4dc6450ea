/** An installation with something of everything in it, as it lies in its database when its server has stopped. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { LoginResponse } from '@espalier/contract';
import type { DatabaseKind, TestDatabase } from '../databases.ts';
import { PeopleBed } from '../people/people-bed.ts';
import { TestClock } from '../testbed.ts';
import { stageImport } from '../tree/stored-imports.ts';
import { TreeBed } from '../tree/tree-bed.ts';

export type TokenPair = Pick<LoginResponse, 'authToken' | 'refreshToken'>;

export interface Installation {
  readonly database: TestDatabase;
  readonly clock: TestClock;
  /** Of the administrator: current, and the one that was exchanged for another whose answer may have been lost. */
  readonly pair: TokenPair;
  readonly spentPair: TokenPair;
  /** What the spent one was exchanged for. */
  readonly successor: TokenPair;
}

export const settings = { REFRESH_RETRY_SECONDS: '600' };

export async function makeInstallation(kind: DatabaseKind): Promise<Installation> {
  const database = await kind.create();
  const clock = new TestClock();
  const people = await PeopleBed.start(kind, { database, clock, settings });
  const tree = new TreeBed(people.bed, people.authToken);
  try {
    await fillWithPeople(people, await growTree(tree, clock));
    const pair = await people.bed.logIn();
    const spentPair = await people.bed.logIn();
    const answer = await people.bed.refresh(spentPair);
    assert.equal(answer.status, 200);
    return { database, clock, pair, spentPair, successor: answer.json<TokenPair>() };
  } finally {
    await people.stop();
  }
}

/** Answers with the id of a folder in it. */
async function growTree(tree: TreeBed, clock: TestClock): Promise<string> {
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
  // What was made first is inside of what was made last.
  await tree.move(first, await tree.create('Last', later));
  await tree.delete(await tree.create('Gone', first));
  const query = 'mutation{createFolder(input: {name: "Once"}){cursor}}';
  await tree.bed.postRaw('/graphql', JSON.stringify({ query }), {
    'content-type': 'application/json',
    authorization: `Bearer ${tree.authToken}`,
    'idempotency-key': randomUUID(),
  });
  await stageImport(tree.bed.database.url, { parentId: later, names: ['Half', 'way'], now: clock.now() });
  return first;
}

async function fillWithPeople(people: PeopleBed, folderId: string): Promise<void> {
  const person = await people.createUser({ username: 'Ærøskøbing \u{1F642}' });
  const disabled = await people.createUser();
  const deleted = await people.createUser();
  const groupId = await people.createGroup('Leser*innen');
  await people.run('addToGroup', { groupId, userIds: [person.id] });
  await people.run('grantAccess', { folderId, groupId, level: 'READ' });
  await people.run('grantAccess', { folderId, userId: person.id, level: 'NONE' });
  await people.logIn(disabled);
  await people.logIn(deleted);
  await people.run('updateUser', { id: disabled.id, isDisabled: true });
  await people.run('deleteUser', { id: deleted.id });
}
