import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refusal } from '../../refusal.ts';
import { findClaim, readPerson } from './person.ts';

const names = { usernameClaim: 'preferred_username', groupsClaim: 'groups' };

describe('findClaim', () => {
  const claims = {
    groups: ['a'],
    realm_access: { roles: ['b'] },
    'https://example.com/groups': ['c'],
    'realm_access.other': 'd',
  };
  const cases: Readonly<Record<string, unknown>> = {
    groups: ['a'],
    'realm_access.roles': ['b'],
    'https://example.com/groups': ['c'],
    'realm_access.other': 'd',
    'realm_access.missing': undefined,
    'groups.length': 1,
    constructor: undefined,
    '__proto__.toString': undefined,
  };
  for (const [name, expected] of Object.entries(cases)) {
    test(`finds ${name}`, () => assert.deepEqual(findClaim(claims, name), expected));
  }
});

describe('readPerson', () => {
  test('reads the id, the session, the name and the groups', () => {
    const claims = { sub: 's1', sid: 'x', preferred_username: 'ada', groups: ['a', 1, null, 'b'] };
    assert.deepEqual(readPerson(claims, names), {
      subject: 's1',
      sid: 'x',
      username: 'ada',
      groups: ['a', 'b'],
    });
  });

  test('accepts a single group as a text', () => {
    assert.deepEqual(readPerson({ sub: 's1', groups: 'a' }, names).groups, ['a']);
  });

  test('ignores values of other types', () => {
    const person = readPerson({ sub: 's1', sid: 1, preferred_username: ['ada'], groups: { a: true } }, names);
    assert.deepEqual(person, { subject: 's1', sid: undefined, username: undefined, groups: [] });
  });

  test('ignores an e-mail address that the provider has not verified', () => {
    const read = (claims: object) =>
      readPerson({ sub: 's1', email: 'ada@example.com', ...claims }, { ...names, usernameClaim: 'email' })
        .username;
    assert.equal(read({}), 'ada@example.com');
    assert.equal(read({ email_verified: true }), 'ada@example.com');
    assert.equal(read({ email_verified: false }), undefined);
    assert.equal(read({ email_verified: 'false' }), undefined);
  });

  test('reads no groups if they are not synchronized', () => {
    const claims = { sub: 's1', groups: ['a'], _claim_names: { groups: 'src1' } };
    assert.deepEqual(readPerson(claims, { ...names, groupsClaim: undefined }).groups, []);
  });

  test('refuses an id that cannot be stored, and groups that the provider left out', () => {
    const refused = [
      { sub: 'x'.repeat(256) },
      { sub: 'a\0b' },
      { sub: '' },
      { sub: '\ud800' },
      {},
      { sub: 's1', _claim_names: { groups: 'src1' } },
    ];
    for (const claims of refused) {
      assert.throws(
        () => readPerson(claims, names),
        (error) => error instanceof Refusal && error.code === 'FORBIDDEN',
      );
    }
  });
});
