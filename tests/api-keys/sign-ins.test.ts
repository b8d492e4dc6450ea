/** The history of sign-ins contains the first use of an API key from an address, and refused uses of keys that exist. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { databaseKinds } from '../support/databases.ts';
import type { Variables } from '../support/graph-testbed.ts';
import { Testbed } from '../support/testbed.ts';

interface Row {
  readonly result: string;
  readonly address: string;
  readonly count: number;
  readonly detail: string;
}

for (const kind of databaseKinds) {
  describe(`the sign-ins with API keys on ${kind.name}`, () => {
    let people: PeopleTestbed;
    let person: Person;
    let token: string;
    before(async () => {
      people = await PeopleTestbed.start(kind, {
        settings: { TRUST_PROXY: 'true', AUTH_TOKEN_SECONDS: '3600' },
      });
      person = await people.createUser();
      token = (await people.logIn(person)).authToken;
    });
    after(() => people.stop());

    const createKey = async (name: string, input: Variables = {}) => {
      const { key, apiKey } = await people.mutate<{ key: string; apiKey: { id: string } }>(
        'createApiKey',
        { name, level: 'READ', ...input },
        'key apiKey{id}',
        token,
      );
      return { key, id: apiKey.id };
    };
    const use = async (key: string, address = '192.0.2.1', server = people.server) => {
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-forwarded-for': address,
      };
      return (await server.postRaw('/graphql', '{"query":"{__typename}"}', headers)).status;
    };
    /** The sign-ins with a key of this name, the oldest first. */
    const list = async (name: string) => {
      await people.server.purge();
      const query =
        'query($userId: ID!){signIns(first: 100, filter: {userId: $userId, methods: [API_KEY]}){items{result address count detail}}}';
      const { signIns } = await people.query<{ signIns: { items: Row[] } }>(query, { userId: person.id });
      return signIns.items
        .filter(({ detail }) => detail.startsWith(`API key "${name}"`))
        .map(({ result, address, detail }) => `${result} ${address} ${detail}`)
        .toReversed();
    };

    test('contain the first use from each address in 24 hours', async () => {
      const { key } = await createKey('daily');
      const { clock } = people.server;
      for (const address of [
        '192.0.2.1',
        '192.0.2.1',
        '192.0.2.2',
        '192.0.2.1',
        '2001:db8::1',
        '2001:db8::2',
      ]) {
        assert.equal(await use(key, address), 200);
        clock.advanceSeconds(1);
      }
      const expected = ['192.0.2.1', '192.0.2.2', '2001:db8::1'].map(
        (address) => `SUCCESS ${address} API key "daily"`,
      );
      assert.deepEqual(await list('daily'), expected);
      clock.advanceSeconds(24 * 3600);
      token = (await people.logIn(person)).authToken;
      people.authToken = (await people.server.logIn()).authToken;
      await use(key);
      await use(key);
      assert.deepEqual(await list('daily'), [...expected, expected[0]]);
    });

    test('contain the first use on each node', async () => {
      const { key } = await createKey('shared');
      const { database, clock } = people.server;
      const otherNode = await Testbed.start(kind, { database, clock });
      await use(key);
      clock.advanceSeconds(1);
      await use(key, undefined, otherNode);
      await use(key, undefined, otherNode);
      await otherNode.stop();
      assert.deepEqual(await list('shared'), [
        'SUCCESS 192.0.2.1 API key "shared"',
        'SUCCESS 127.0.0.1 API key "shared"',
      ]);
    });

    test('contain refused uses with the reason and without the key', async () => {
      const { clock } = people.server;
      const expiresAt = new Date(clock.now() + 1_000).toISOString();
      const expired = await createKey('expired', { expiresAt });
      const elsewhere = await createKey('elsewhere', { networks: ['198.51.100.0/24'] });
      const revoked = await createKey('revoked');
      const disabled = await createKey('disabled');
      assert.equal(await use(disabled.key), 200);
      await people.mutate('revokeApiKey', { id: revoked.id });
      clock.advanceSeconds(1);
      for (const { key } of [expired, elsewhere, revoked]) assert.equal(await use(key), 401);
      await people.mutate('updateUser', { id: person.id, isDisabled: true });
      assert.equal(await use(disabled.key), 401);
      await people.mutate('updateUser', { id: person.id, isDisabled: false });
      token = (await people.logIn(person)).authToken;
      const refusals = {
        expired: ['REFUSED 192.0.2.1 API key "expired": This API key has expired. Create another one.'],
        elsewhere: [
          'REFUSED 192.0.2.1 API key "elsewhere": This API key may not be used from the network of this client.',
        ],
        revoked: ['REFUSED 192.0.2.1 API key "revoked": This API key was revoked.'],
        disabled: [
          'SUCCESS 192.0.2.1 API key "disabled"',
          'REFUSED 192.0.2.1 API key "disabled": The user of this API key is disabled.',
        ],
      };
      for (const [name, expected] of Object.entries(refusals)) assert.deepEqual(await list(name), expected);
    });

    test('do not contain texts that are no key of this server', async () => {
      const { key } = await createKey('real');
      const before = await countRows();
      await use(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`);
      await use('esp_short');
      assert.equal(await countRows(), before);
    });

    const countRows = async () => {
      await people.server.purge();
      const query = '{signIns(filter: {methods: [API_KEY]}){totalCount}}';
      return (await people.query<{ signIns: { totalCount: number } }>(query)).signIns.totalCount;
    };
  });
}
