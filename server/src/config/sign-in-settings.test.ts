import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readSettings } from './config.ts';
import { findSettingWarnings } from './settings-warnings.ts';
import { groupMappings, issuerUrl, signInSettings } from './sign-in-settings.ts';

const singleSignOn = {
  ESPALIER_SSO_ISSUER: 'https://login.example.com/realms/main',
  ESPALIER_SSO_CLIENT_ID: 'espalier',
  ESPALIER_PUBLIC_URL: 'https://tree.example.com',
};
const read = (environment: Record<string, string>) => readSettings({ environment });

describe('the setting SSO_GROUPS', () => {
  test('maps groups of the provider to groups and to the administrator role', () => {
    assert.deepEqual(groupMappings.parse('staff=Staff, /it/admins=@administrators'), [
      { providerGroup: 'staff', target: { group: 'Staff' } },
      { providerGroup: '/it/admins', target: 'administrators' },
    ]);
  });

  test('decodes percent-encoded commas and equals signs', () => {
    assert.deepEqual(groupMappings.parse('a%3Db=R%26D%2C%20Berlin'), [
      { providerGroup: 'a=b', target: { group: 'R&D, Berlin' } },
    ]);
  });

  test('accepts a group with the name of the role, if its first character is encoded', () => {
    assert.deepEqual(groupMappings.parse('it=%40administrators'), [
      { providerGroup: 'it', target: { group: '@administrators' } },
    ]);
  });

  for (const input of ['staff', 'staff=', '=Staff', 'a=b=c', 'a=b,', 'a=%E0%A4%A', 'it=@admins']) {
    test(`rejects ${input}`, () => assert.equal(groupMappings.parse(input), undefined));
  }
});

describe('the setting SSO_ISSUER', () => {
  for (const input of [
    'https://login.example.com/',
    'http://127.0.0.1:8080',
    'http://localhost:8080/realms/x',
  ]) {
    test(`accepts ${input} unchanged`, () => assert.equal(issuerUrl.parse(input), input));
  }

  for (const input of [
    'http://login.example.com',
    'login.example.com',
    'https://user:secret@login.example.com',
    'https://login.example.com/?tenant=1',
    'ftp://login.example.com',
    'https://login.example.com/realms/main/.well-known/openid-configuration',
  ]) {
    test(`rejects ${input}`, () => assert.equal(issuerUrl.parse(input), undefined));
  }
});

describe('the settings of single sign-on', () => {
  test('require a client id and a public URL', () => {
    for (const missing of ['ESPALIER_SSO_CLIENT_ID', 'ESPALIER_PUBLIC_URL'] as const) {
      assert.throws(() => read({ ...singleSignOn, [missing]: '' }), /ESPALIER_SSO_ISSUER requires/);
    }
    assert.equal(read(singleSignOn).settings.ssoClientId, 'espalier');
  });

  test('report only the invalid value of a setting, and not that it is missing', () => {
    assert.throws(
      () => read({ ...singleSignOn, ESPALIER_PUBLIC_URL: 'tree.example.com' }),
      ({ message }: Error) =>
        message.includes('ESPALIER_PUBLIC_URL') && !message.includes('ESPALIER_SSO_ISSUER'),
    );
  });

  test('never display the secret of the client', () => {
    const { displayed } = read({ ...singleSignOn, ESPALIER_SSO_CLIENT_SECRET: 'keep this to yourself' });
    assert.ok(!JSON.stringify(displayed).includes('keep this'));
  });

  test('require the scope openid', () => {
    for (const scopes of ['profile', 'openid2', 'openid "x"', 'openid\u0007']) {
      assert.equal(signInSettings.ssoScopes.parse(scopes), undefined);
    }
    assert.equal(signInSettings.ssoScopes.parse('profile openid groups'), 'profile openid groups');
  });

  test('cause a warning if no user can sign in for the first time', () => {
    const warningsFor = (more: Record<string, string>) =>
      findSettingWarnings(read({ ...more }).settings).filter((text) => text.includes('PASSWORD_LOGIN'));
    assert.equal(warningsFor({ ESPALIER_PASSWORD_LOGIN: 'off' }).length, 1);
    assert.equal(warningsFor({ ...singleSignOn, ESPALIER_PASSWORD_LOGIN: 'off' }).length, 1);
    assert.equal(warningsFor({ ...singleSignOn, ESPALIER_PASSWORD_LOGIN: 'administrators' }).length, 0);
    const creating = { ESPALIER_SSO_CREATE_USERS: 'on', ESPALIER_PASSWORD_LOGIN: 'off' };
    assert.equal(warningsFor({ ...singleSignOn, ...creating }).length, 0);
  });
});
