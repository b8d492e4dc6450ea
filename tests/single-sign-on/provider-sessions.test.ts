/** The provider ends sessions: with a logout token, or by no longer accepting the refresh token of the sign-in. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, describe, test } from 'node:test';
import { decodeJwt, type JWTPayload } from 'jose';
import type { LoginResponse } from '@espalier/contract';
import { sql } from '../../server/src/database/statement.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { administrator, problemOf, Testbed } from '../support/testbed.ts';
import { SignOnTestbed } from './sign-on-testbed.ts';
import { providerClientId } from './test-provider.ts';

const event = 'http://schemas.openid.net/event/backchannel-logout';
const findStored = sql<{ sessionId: string }, { sid: string; sealed: Uint8Array; checkedAt: number }>`
  select sid, sealed_refresh_token as sealed, checked_at as "checkedAt"
  from single_sign_on_sessions where session_id = ${'sessionId'}`;
const recheckSeconds = 15 * 60;

for (const kind of databaseKinds) {
  describe(`sessions of single sign-on on ${kind.name}`, () => {
    let bed: SignOnTestbed;
    before(async () => {
      bed = await SignOnTestbed.start(kind);
      for (const name of ['ada', 'grace', 'linus']) bed.provider.addUser(name);
    });
    afterEach(() => {
      bed.provider.resetFaults();
      for (const user of bed.provider.users.values()) user.isDisabled = false;
    });
    after(() => bed.stop());

    const readStored = async ({ authToken }: LoginResponse) => {
      const sessionId = decodeJwt(authToken)['sid'] as string;
      const row = await withDatabase(bed.node.database.url, async (database) =>
        database.get(findStored, { sessionId }),
      );
      return row!;
    };
    const isValid = async ({ authToken }: LoginResponse, node = bed.other) =>
      (await node.query('{cursor}', authToken)).status === 200;
    const hasEnded = (tokens: LoginResponse) =>
      eventually(async () => !(await isValid(tokens)), 'the session has ended on the other node');
    const sendLogout = (token: string, node = bed.node) =>
      node.send('POST', '/login/sso/logout', {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ logout_token: token }).toString(),
      });
    const claimsFor = (username: string): JWTPayload => {
      const now = Math.floor(Date.now() / 1000);
      const { issuer } = bed.provider;
      const { subject } = bed.provider.users.get(username)!;
      return {
        iss: issuer,
        aud: providerClientId,
        sub: subject,
        iat: now,
        exp: now + 120,
        jti: randomUUID(),
        events: { [event]: {} },
      };
    };
    const countRequests = () => bed.provider.requests.filter((each) => each === 'POST /token').length;

    test('end when the user logs out at the provider, on all nodes, and only these', async () => {
      const [one, other] = [await bed.logIn('ada'), await bed.logIn('ada')];
      const { sid } = await readStored(one);
      await bed.provider.logOut(bed.provider.users.get('ada')!, sid);
      assert.equal(await isValid(one, bed.node), false);
      await hasEnded(one);
      assert.equal((await bed.node.refresh(one)).status, 401);
      assert.equal(await isValid(other), true);
      const { authToken } = await bed.node.logIn();
      const journal = await bed.node.query(
        '{journal(first: 1, filter: {kinds: [END_SESSION]}){items{after user{username}}}}',
        authToken,
      );
      assert.match(journal.text, /"after":\{"because":"provider"\},"user":\{"username":"ada"\}/);
    });

    test('end all if the logout token names only the user, but not the sessions of a password', async () => {
      const tokens = [await bed.logIn('grace'), await bed.logIn('grace')];
      const [ofAda, ofPassword] = [await bed.logIn('ada'), await bed.node.logIn()];
      const answer = await sendLogout(
        await bed.provider.sign(claimsFor('grace'), { typ: 'logout+jwt' }),
        bed.other,
      );
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.text, '');
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      for (const each of tokens) await hasEnded(each);
      assert.ok((await isValid(ofAda)) && (await isValid(ofPassword)));
    });

    test('end with their auth tokens even if the user has logged out here shortly before', async () => {
      bed.node.clock.advanceSeconds(1);
      const tokens = await bed.logIn('grace');
      assert.equal((await bed.node.post('/logout', { refreshToken: tokens.refreshToken })).status, 204);
      assert.equal(await isValid(tokens), true);
      assert.equal((await sendLogout(await bed.provider.sign(claimsFor('grace')))).status, 200);
      assert.equal(await isValid(tokens, bed.node), false);
      await hasEnded(tokens);
    });

    test('without an id of the session at the provider end with each session of the user there', async () => {
      bed.node.clock.advanceSeconds(1);
      bed.provider.setFaults({ claims: ({ sid: _, ...claims }) => claims });
      const tokens = await bed.logIn('grace');
      const started = await bed.signIn('grace');
      bed.provider.resetFaults();
      const other = await bed.logIn('grace');
      const ofAnother = await bed.provider.sign({ ...claimsFor('ada'), sid: 'a session' });
      assert.equal((await sendLogout(ofAnother)).status, 200);
      assert.ok(await isValid(tokens));
      const token = await bed.provider.sign({ ...claimsFor('grace'), sid: 'a session' });
      assert.equal((await sendLogout(token)).status, 200);
      await hasEnded(tokens);
      assert.equal((await bed.exchange(started)).status, 401);
      assert.ok(await isValid(other));
    });

    const forgeries: Readonly<Record<string, (claims: JWTPayload) => JWTPayload>> = {
      'another issuer': (claims) => ({ ...claims, iss: 'https://evil.example.com' }),
      'another audience': (claims) => ({ ...claims, aud: 'another client' }),
      'no event': ({ events: _, ...claims }) => claims,
      'another event': (claims) => ({ ...claims, events: { 'https://example.com/event': {} } }),
      'a nonce': (claims) => ({ ...claims, nonce: 'a nonce' }),
      'no id': ({ jti: _, ...claims }) => claims,
      'no time': ({ iat: _, ...claims }) => claims,
      'neither a user nor a session': ({ sub: _, ...claims }) => claims,
      'an old time': (claims) => ({ ...claims, iat: claims.iat! - 3600, exp: claims.iat! + 3600 }),
      'a time in the future': (claims) => ({ ...claims, iat: claims.iat! + 3600, exp: claims.iat! + 7200 }),
      'an expiry in the past': (claims) => ({ ...claims, exp: claims.iat! - 3600 }),
    };

    test('continue after a logout token that is not valid', async () => {
      const tokens = await bed.logIn('linus');
      for (const [name, forge] of Object.entries(forgeries)) {
        const answer = await sendLogout(await bed.provider.sign(forge(claimsFor('linus'))));
        assert.equal(answer.status, 400, name);
        assert.equal(problemOf(answer).code, 'BAD_INPUT');
      }
      const signed = await bed.provider.sign(claimsFor('linus'));
      const [head = '', claims = ''] = signed.split('.');
      const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`;
      const asIdToken = await bed.provider.sign(claimsFor('linus'), { typ: 'at+jwt' });
      for (const token of ['', 'x', `${head}.${claims}.AAAA`, unsigned, asIdToken]) {
        assert.equal((await sendLogout(token)).status, 400, token.slice(0, 20));
      }
      const json = await bed.node.post('/login/sso/logout', { logout_token: signed });
      assert.equal(json.status, 400);
      assert.ok(await isValid(tokens));
    });

    test('end only once for each logout token, on all nodes', async () => {
      const token = await bed.provider.sign(claimsFor('linus'));
      assert.equal((await sendLogout(token)).status, 200);
      bed.node.clock.advanceSeconds(1);
      const tokens = await bed.logIn('linus');
      for (const node of [bed.node, bed.other]) assert.equal((await sendLogout(token, node)).status, 400);
      assert.ok(await isValid(tokens));
    });

    test('do not start after a logout during the sign-in', async () => {
      const result = await bed.signIn('linus');
      assert.equal((await sendLogout(await bed.provider.sign(claimsFor('linus')))).status, 200);
      assert.equal((await bed.exchange(result)).status, 401);
      bed.node.clock.advanceSeconds(1);
      await bed.logIn('linus');
    });

    test('do not start after a logout while the server waits for the provider', async () => {
      const idToken = async (claims: JWTPayload) => {
        assert.equal((await sendLogout(await bed.provider.sign(claimsFor('linus')), bed.other)).status, 200);
        bed.node.clock.advanceSeconds(1);
        return bed.provider.sign(claims);
      };
      bed.provider.setFaults({ idToken });
      assert.equal((await bed.exchange(await bed.signIn('linus'))).status, 401);
      bed.provider.resetFaults();
      await bed.logIn('linus');
    });

    test('are checked at the provider after a refresh, once on all nodes', async () => {
      let tokens = await bed.logIn('ada');
      const { sealed: first } = await readStored(tokens);
      const before = countRequests();
      tokens = (await bed.node.refresh(tokens)).json<LoginResponse>();
      assert.equal(countRequests(), before, 'not before the time of the setting');
      bed.node.clock.advanceSeconds(recheckSeconds);
      tokens = (await bed.node.refresh(tokens)).json<LoginResponse>();
      tokens = (await bed.other.refresh(tokens)).json<LoginResponse>();
      const isReplaced = async () => !Buffer.from((await readStored(tokens)).sealed).equals(first);
      await eventually(isReplaced, 'the new refresh token of the provider is stored');
      bed.node.clock.advanceSeconds(recheckSeconds);
      tokens = (await bed.other.refresh(tokens)).json<LoginResponse>();
      await eventually(() => countRequests() > before + 1, 'the session is checked again');
      assert.equal(countRequests(), before + 2);
      assert.ok(await isValid(tokens));
    });

    test('end if the user is disabled at the provider', async () => {
      let tokens = await bed.logIn('grace');
      bed.provider.users.get('grace')!.isDisabled = true;
      bed.node.clock.advanceSeconds(recheckSeconds);
      const answer = await bed.node.refresh(tokens);
      assert.equal(answer.status, 200, 'the refresh does not wait for the provider');
      tokens = answer.json<LoginResponse>();
      await hasEnded(tokens);
      assert.equal((await bed.node.refresh(tokens)).status, 401);
    });

    test('end if the server can no longer decrypt the refresh token of the provider', async () => {
      let tokens = await bed.logIn('linus');
      const { database, clock } = bed.node;
      const settings = {
        ...bed.provider.settings,
        PUBLIC_URL: bed.node.url,
        SSO_CLIENT_SECRET: 'a new secret of this client',
      };
      const node = await Testbed.start(kind, { database, clock, settings });
      const before = countRequests();
      clock.advanceSeconds(recheckSeconds);
      tokens = (await node.refresh(tokens)).json<LoginResponse>();
      await hasEnded(tokens);
      await node.stop();
      assert.equal(countRequests(), before);
    });

    test('continue if the provider does not respond', async () => {
      let tokens = await bed.logIn('ada');
      bed.provider.setFaults({ status: 500 });
      const logged = bed.node.logLines.length;
      bed.node.clock.advanceSeconds(recheckSeconds);
      tokens = (await bed.node.refresh(tokens)).json<LoginResponse>();
      const isLogged = () =>
        bed.node.logLines
          .slice(logged)
          .some((line) => line.includes('cannot be checked at the single sign-on'));
      await eventually(isLogged, 'the failure is logged');
      assert.ok(await isValid(tokens));
    });

    test('of a password are never checked', async () => {
      const before = bed.provider.requests.length;
      let tokens = await bed.node.logIn(administrator);
      for (let count = 0; count < 3; count++) {
        bed.node.clock.advanceSeconds(recheckSeconds);
        tokens = (await bed.node.refresh(tokens)).json<LoginResponse>();
      }
      assert.equal(bed.provider.requests.length, before);
    });

    test('have the refresh token of the provider only in encrypted form', async () => {
      const tokens = await bed.logIn('ada');
      const { sealed } = await readStored(tokens);
      assert.ok(sealed.length > 28);
      assert.doesNotMatch(Buffer.from(sealed).toString('latin1'), /^[\w-]{20,}$/);
    });
  });
}
