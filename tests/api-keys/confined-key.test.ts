/**
 * A key for one folder finds nothing of the rest: each field of the schema is read, and each mutation is tried, with ids and texts of
 * everything outside. The responses also equal those for a user with rights on this folder only.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { GraphQLObjectType } from 'graphql';
import { createSchema } from '../../server/src/graph/schema/schema.ts';
import { EventClient } from '../live/event-client.ts';
import { SocketClient } from '../live/socket-client.ts';
import { databaseKinds } from '../support/databases.ts';
import {
  mutation,
  withoutRequestId,
  type GraphBody,
  type GraphError,
  type Variables,
} from '../support/graph-testbed.ts';
import { selectLength } from '../support/run-length.ts';
import { ConfinedWorld, type ConfinedKey } from './confined-world.ts';
import { listSelections } from './schema-walk.ts';

const schema = createSchema();
const queryFields = schema.getQueryType()!.getFields();
const mutationFields = (schema.getMutationType() as GraphQLObjectType).getFields();
/** Reading many selections with one query saves time. */
const selectionsPerQuery = 20;

const fieldArguments = {
  'Folder.access': 'inherited: true',
  'Viewer.recentFolders': 'first: 20',
  'ServerInfo.activity': 'minutes: 5',
};

const streamSelections = listSelections(
  { schema, fieldArguments, maxDepth: 1 },
  schema.getSubscriptionType()!.getFields()['folderChanges']!,
);

/** The icons that changes outside and inside the folder set. */
const outsideMark = 'outside mark';
const lastMark = 'last mark';

const quote = (text: string) => JSON.stringify(text);
const watchDocument = (selection: string, input: string) =>
  `subscription{folderChanges(${input})${selection}}`;
const allOf = (name: string, values: readonly string[]) => values.map((value) => `${name}: ${quote(value)}`);

/** The arguments to try, by field of Query. */
const queryCases: Readonly<Record<string, (world: ConfinedWorld) => readonly string[]>> = {
  viewer: () => [''],
  folder: ({ folderIds, hiddenNames }) => [
    '',
    ...allOf('id', folderIds),
    ...allOf('path', ['/Top', '/Top/Place', ...hiddenNames.flatMap((name) => [`/${name}`, `/Top/${name}`])]),
  ],
  node: ({ folderIds, userIds, groupIds, sessionIds, keyIds }) =>
    allOf('id', [...folderIds, ...userIds, ...groupIds, ...sessionIds, ...keyIds]),
  search: ({ hiddenNames, hiddenIds, topId, placeId }) => [
    ...allOf('text', ['marker', 'room', 'place', 'a', '/Top', ...hiddenNames, ...hiddenIds]),
    ...[...hiddenIds, topId, placeId].map((id) => `text: "marker", under: ${quote(id)}`),
  ],
  exportFolders: ({ folderIds }) => ['', ...allOf('id', folderIds)],
  trash: () => ['', 'first: 1'],
  explainAccess: ({ folderIds, userIds, ownIds, unknownId }) =>
    folderIds.flatMap((folderId) =>
      [...userIds, ...ownIds, unknownId].map(
        (userId) => `userId: ${quote(userId)}, folderId: ${quote(folderId)}`,
      ),
    ),
  users: () => ['', 'text: "marker"'],
  user: ({ userIds, ownIds, usernames }) => [
    ...allOf('id', [...userIds, ...ownIds]),
    ...allOf('username', [...usernames, 'ann', 'admin']),
  ],
  groups: () => ['', 'text: "marker"'],
  group: ({ groupIds, groupNames }) => [...allOf('id', groupIds), ...allOf('name', groupNames)],
  sessions: ({ userIds, ownIds }) => ['', ...allOf('userId', [...userIds, ...ownIds])],
  signIns: ({ userIds, ownIds }) => [
    '',
    ...[...userIds, ...ownIds].map((id) => `filter: {userId: ${quote(id)}}`),
  ],
  apiKeys: ({ userIds, ownIds }) => ['', ...allOf('userId', [...userIds, ...ownIds])],
  apiKey: ({ keyIds }) => allOf('id', keyIds),
  cursor: () => [''],
  changes: ({ firstCursor, folderIds }) => {
    const from = `after: ${quote(firstCursor)}`;
    return ['', from, ...folderIds.map((id) => `${from}, under: ${quote(id)}`)];
  },
  journal: ({ folderIds, userIds, groupIds, ownIds }) => [
    '',
    ...folderIds.map((id) => `filter: {folderId: ${quote(id)}}`),
    ...[...userIds, ...ownIds].flatMap((id) => [
      `filter: {userId: ${quote(id)}}`,
      `filter: {byId: ${quote(id)}}`,
    ]),
    ...groupIds.map((id) => `filter: {groupId: ${quote(id)}}`),
  ],
  server: () => [''],
};

/** Responses that depend on who the user is, and not only on the rights. */
const personalFields = [
  'viewer',
  'changes',
  'user',
  'explainAccess',
  'sessions',
  'signIns',
  'apiKeys',
  'apiKey',
];

/** Inputs with an object outside the folder of the key. `id` is a hidden folder, or one that does not exist. */
const mutationCases: Readonly<Record<string, (world: ConfinedWorld, id: string) => readonly Variables[]>> = {
  createFolder: (_, id) => [
    { name: 'New', parentId: id },
    { name: 'New', parentId: id, expectedVersion: 1 },
  ],
  updateFolder: (_, id) => [
    { id, title: 'x' },
    { id, name: 'Place', expectedVersion: 1 },
  ],
  deleteFolder: (_, id) => [{ id, recursive: true }],
  moveFolder: ({ roomId, placeId }, id) => [
    { id, parentId: placeId, dryRun: true },
    { id: roomId, parentId: id, dryRun: true },
    { id: placeId, parentId: id },
  ],
  importFolders: (_, parentId) => [
    { parentId, tree: [{ name: 'x' }], dryRun: true },
    { parentId, list: [{ path: 'x/y' }], onExisting: 'UPDATE' },
  ],
  duplicateFolder: ({ roomId, placeId }, id) => [
    { id, parentId: placeId },
    { id: roomId, parentId: id },
  ],
  restoreFolder: ({ trashedId, placeId }, id) => [
    { id },
    { id, parentId: placeId },
    { id: trashedId, parentId: id },
  ],
  purgeFolder: (_, id) => [{ id }],
  emptyTrash: () => [{ deletedBefore: '2020-01-01T00:00:00Z' }],
  grantAccess: ({ userIds: [userId] }, folderId) => [{ folderId, userId, level: 'READ' }],
  revokeAccess: ({ userIds: [userId], groupIds: [groupId] }, folderId) => [
    { folderId, userId },
    { folderId, groupId },
  ],
  setFavorite: (_, folderId) => [{ folderId, isFavorite: true }],
  visitFolder: (_, folderId) => [{ folderId }],
  createUser: () => [{ username: 'new user', password: 'walnut cabin' }],
  updateUser: ({ userIds: [id] }) => [{ id, isDisabled: true }],
  deleteUser: ({ userIds: [id] }) => [{ id }],
  resetPassword: ({ userIds: [userId] }) => [{ userId, password: 'walnut cabin' }],
  startViewAs: ({ userIds: [userId] }) => [{ userId }],
  changePassword: () => [{ oldPassword: 'walnut cabin', newPassword: 'walnut cabins' }],
  createGroup: ({ groupNames: [name] }) => [{ name }],
  updateGroup: ({ groupIds: [id] }) => [{ id, name: 'x' }],
  deleteGroup: ({ groupIds: [id] }) => [{ id }],
  addToGroup: ({ groupIds: [groupId], userIds }) => [{ groupId, userIds }],
  removeFromGroup: ({ groupIds: [groupId], userIds }) => [{ groupId, userIds }],
  revokeSession: ({ sessionIds }) => sessionIds.map((id) => ({ id })),
  revokeSessions: ({ userIds, ownIds }) => [{}, ...[...userIds, ...ownIds].map((userId) => ({ userId }))],
  createApiKey: (_, folderId) => [
    { name: 'x', level: 'READ' },
    { name: 'x', level: 'READ', folderId },
  ],
  revokeApiKey: ({ keyIds }) => keyIds.map((id) => ({ id })),
  convertToServiceAccount: ({ userIds: [userId] }) => [{ userId }],
  unlinkSingleSignOn: (_, id) => [{ id }],
  startTotpEnrolment: () => [{}],
  confirmTotpEnrolment: () => [{ code: '123456' }],
  removeTotp: () => [{}],
  createRecoveryCodes: () => [{}],
  startPasskeyEnrolment: () => [{}],
  finishPasskeyEnrolment: () => [{ challengeId: 'x', response: {}, name: 'x' }],
  renamePasskey: (_, id) => [{ id, name: 'x' }],
  removePasskey: (_, id) => [{ id }],
  resetSecondFactor: ({ userIds: [userId] }) => [{ userId }],
  linkSingleSignOn: () => [{ code: 'x', verifier: 'x'.repeat(43) }],
};

/** A user may do this without any grant, and a key may not. */
const sessionMutations = [
  ...['setFavorite', 'visitFolder', 'createApiKey', 'revokeApiKey', 'startViewAs', 'changePassword'],
  ...['revokeSession', 'revokeSessions', 'linkSingleSignOn', 'unlinkSingleSignOn'],
  ...[
    'startTotpEnrolment',
    'confirmTotpEnrolment',
    'removeTotp',
    'createRecoveryCodes',
    'startPasskeyEnrolment',
  ],
  ...['finishPasskeyEnrolment', 'renamePasskey', 'removePasskey'],
];

for (const kind of databaseKinds) {
  describe(`a key for one folder on ${kind.name}`, { timeout: 300_000 }, () => {
    const maxDepth = selectLength({ short: 1, long: 2 });
    let world: ConfinedWorld;
    before(async () => (world = await ConfinedWorld.start(kind)));
    after(() => world.stop());

    const send = async (query: string, authToken: string, variables: Variables = {}) => {
      const response = await world.people.server.query(query, authToken, variables);
      const { text } = response;
      const body = JSON.parse(text) as GraphBody<Record<string, unknown>>;
      const codes = body.errors?.map(({ extensions }) => extensions.code) ?? [];
      const isUseful = codes.every((code) => !['INTERNAL', 'BAD_QUERY', 'TOO_EXPENSIVE'].includes(code));
      assert.ok(isUseful && response.status === 200, `${query} ${text}`);
      return { text, body };
    };

    /** Markers that are part of the request are not searched for. */
    const assertNoMarkers = ({ isManager }: ConfinedKey, request: string, text: string) => {
      const parts = [text, ...decodeCursors(text)];
      for (const { name, text: marker, isForManagers } of world.markers) {
        if ((isManager && isForManagers) || request.includes(marker)) continue;
        assert.ok(
          !parts.some((part) => part.includes(marker)),
          `${name} in the response to ${request}: ${text}`,
        );
      }
    };

    test('has a case for each query and for each mutation', () => {
      assert.deepEqual(Object.keys(queryCases).toSorted(), Object.keys(queryFields).toSorted());
      const missing = Object.keys(mutationFields).filter((name) => !mutationCases[name]);
      assert.deepEqual(missing, []);
    });

    /** Sends a query with the key and, if the responses must be equal, as the twin. */
    const check = async (confined: ConfinedKey, query: string, { isCompared }: { isCompared: boolean }) => {
      const { text, body } = await send(query, confined.key);
      assertNoMarkers(confined, query, text);
      if (isCompared) {
        const twin = await send(query, confined.twinToken);
        assert.deepEqual(normalize(body), normalize(twin.body), `${confined.name}: ${query}`);
      }
      return body;
    };

    for (const [name, casesOf] of Object.entries(queryCases)) {
      test(`reads nothing outside the folder with ${name}`, async () => {
        const [first = '', ...others] = listSelections(
          { schema, fieldArguments, maxDepth },
          queryFields[name]!,
        );
        /** The details of an account depend on whose account it is: a key that is confined to a folder reads less of its own user. */
        const mustEqualTwin = ({ isManager }: ConfinedKey, selection: string) =>
          !personalFields.includes(name) &&
          (isManager || !/access|grant/i.test(selection)) &&
          !/\buser\{/.test(selection);
        let nonEmpty = 0;
        for (const confined of world.keys) {
          for (const input of casesOf(world)) {
            const queryOf = (selections: readonly string[]) =>
              `{${selections.map((selection, at) => `a${at}: ${name}${input && `(${input})`}${selection}`).join(' ')}}`;
            const { data } = await check(confined, queryOf([first]), {
              isCompared: mustEqualTwin(confined, first),
            });
            if (isEmpty(data?.['a0'] ?? null)) continue;
            nonEmpty++;
            for (const isCompared of [true, false]) {
              const selections = others.filter((each) => mustEqualTwin(confined, each) === isCompared);
              for (let start = 0; start < selections.length; start += selectionsPerQuery) {
                const part = selections.slice(start, start + selectionsPerQuery);
                const body = await check(confined, queryOf(part), { isCompared });
                if (body.data) continue;
                // The error of one selection has hidden the others.
                for (const each of part) await check(confined, queryOf([each]), { isCompared });
              }
            }
          }
        }
        const isForSessionsOnly = [
          'users',
          'sessions',
          'signIns',
          'apiKeys',
          'apiKey',
          'journal',
          'server',
        ].includes(name);
        assert.ok(nonEmpty > 0 || isForSessionsOnly, 'every response is empty');
      });
    }

    test('receives no change outside the folder over sockets and event streams', async () => {
      const { people, firstCursor, hiddenIds, unknownId, topId, roomId, userIds, groupIds } = world;
      const [siblingId, childId, secretId] = hiddenIds;
      const { url } = people.server;
      const nextOfEach: { confined: ConfinedKey; next: () => Promise<unknown> }[] = [];
      const closeAll: (() => unknown)[] = [];
      for (const confined of world.keys) {
        const socket = await SocketClient.connect(url, confined.key);
        const refuse = async (query: string) => {
          socket.start('refused', query);
          const { type, payload } = await socket.next();
          assert.equal(type, 'error', query);
          return (payload as unknown as GraphError[]).map(withoutRequestId);
        };
        const refuseUnder = async (id: string) => {
          const errors = await refuse(watchDocument('{kind}', `under: ${quote(id)}`));
          return JSON.stringify(errors).replaceAll(id, 'ID');
        };
        const unknown = await refuseUnder(unknownId);
        for (const id of hiddenIds) assert.equal(await refuseUnder(id), unknown);
        const [refusal] = await refuse('subscription{journal{kind folderId}}');
        assert.equal(refusal!.extensions.code, 'FORBIDDEN');
        await socket.close();
        for (const selection of streamSelections) {
          const query = watchDocument(
            selection.replace('{', '{mark: folder{icon} '),
            `after: ${quote(firstCursor)}`,
          );
          const client = await SocketClient.connect(url, confined.key);
          client.start('watch', query);
          const headers = { authorization: `Bearer ${confined.key}` };
          const events = await EventClient.open(url, { query }, headers);
          nextOfEach.push({ confined, next: () => client.next() }, { confined, next: () => events.next() });
          closeAll.push(
            () => client.close(),
            () => events.disconnect(),
          );
        }
      }
      await people.mutate('updateFolder', { id: siblingId, icon: outsideMark });
      await people.mutate('moveFolder', { id: childId, parentId: topId });
      await people.mutate('moveFolder', { id: childId, parentId: siblingId });
      await people.mutate('deleteFolder', { id: secretId });
      await people.mutate('restoreFolder', { id: secretId });
      await people.mutate('duplicateFolder', { id: secretId, parentId: siblingId });
      await people.mutate('grantAccess', { folderId: siblingId, userId: userIds[0], level: 'READ' });
      await people.mutate('removeFromGroup', { groupId: groupIds[0], userIds });
      await people.mutate('updateFolder', { id: topId, icon: outsideMark });
      await people.mutate('updateFolder', { id: roomId, icon: lastMark });
      for (const { confined, next } of nextOfEach) {
        for (let text = ''; !text.includes(lastMark);) {
          text = JSON.stringify(await next());
          assert.doesNotMatch(text, /outside mark|INTERNAL|BAD_QUERY/);
          assertNoMarkers(confined, '', text);
        }
      }
      await Promise.all(closeAll.map((close) => close()));
    });

    test('cannot change anything outside the folder, and the refusals reveal nothing', async () => {
      const { people, hiddenIds, unknownId, topId } = world;
      const head = async () => (await people.query<{ cursor: string }>('{cursor}')).cursor;
      const start = await head();
      for (const confined of world.keys) {
        for (const name of Object.keys(mutationFields)) {
          const run = async (input: Variables, authToken: string) => {
            const { text, body } = await send(mutation(name, '__typename'), authToken, { input });
            return { text, body: normalize(body) };
          };
          const outcomes = async (id: string, authToken: string) => {
            const all: unknown[] = [];
            for (const input of mutationCases[name]!(world, id)) {
              const { text, body } = await run(input, authToken);
              if (authToken === confined.key) {
                assertNoMarkers(confined, JSON.stringify(input), text);
                assert.ok(
                  body.errors || name === 'emptyTrash',
                  `${confined.name}: ${name} ${JSON.stringify(input)}`,
                );
              }
              all.push(JSON.parse(JSON.stringify(body).replaceAll(id, 'ID')));
            }
            return all;
          };
          const unknown = await outcomes(unknownId, confined.key);
          for (const id of hiddenIds) {
            assert.deepEqual(await outcomes(id, confined.key), unknown, `${confined.name}: ${name}`);
          }
          if (sessionMutations.includes(name)) continue;
          for (const id of [unknownId, topId]) {
            assert.deepEqual(
              await outcomes(id, confined.key),
              await outcomes(id, confined.twinToken),
              `${confined.name}: ${name} ${id}`,
            );
          }
        }
      }
      assert.equal(await head(), start);
    });
  });
}

/** Removes what differs between two equal responses: request ids, and cursors, which are encrypted. */
function normalize({ data, errors }: GraphBody<unknown>): GraphBody<unknown> {
  const text = JSON.stringify({ data, ...(errors && { errors: errors.map(withoutRequestId) }) });
  return JSON.parse(text, (key, value: unknown) =>
    /cursor$/i.test(key) && typeof value === 'string' ? 'cursor' : value,
  ) as GraphBody<unknown>;
}

/** The bytes of all cursors of a response, as text and in hexadecimal form. */
function decodeCursors(text: string): readonly string[] {
  return [...text.matchAll(/cursor":"([^"]+)"/gi)].flatMap(([, cursor]) => {
    const bytes = Buffer.from(cursor!, 'base64url');
    return [bytes.toString('latin1'), bytes.toString('hex')];
  });
}

/** Whether the response has no object to read more fields of. */
function isEmpty(response: unknown): boolean {
  return response === null || (response as { totalCount?: number }).totalCount === 0;
}
