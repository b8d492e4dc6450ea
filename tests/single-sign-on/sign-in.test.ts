/** Signing in with single sign-on: from the start to a session, on two nodes. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginMethods, LoginResponse } from '@espalier/contract';
import { recordSecret } from '../secrets/secret-record.ts';
import { databaseKinds } from '../support/databases.ts';
import { problemOf } from '../support/testbed.ts';
import { CookieBrowser } from './cookie-browser.ts';
import { readProgramLink, SignOnTestbed } from './sign-on-testbed.ts';

for (const kind of databaseKinds) {
  describe(`single sign-on on ${kind.name}`, () => {
    let bed: SignOnTestbed;
    before(async () => {
      bed = await SignOnTestbed.start(kind);
      for (const name of ['ada', 'grace', 'linus', 'margaret']) bed.provider.addUser(name);
    });
    after(() => bed.stop());

    test('is listed as a way to sign in', async () => {
      const methods = (await bed.node.send('GET', '/login/methods')).json<LoginMethods>();
      assert.equal(methods.password, true);
      assert.deepEqual(methods.singleSignOn, { name: 'Test provider' });
    });

    test('creates a user, whose session is like any other', async () => {
      const result = await bed.signIn('ada', { returnTo: '/folders/1' });
      assert.equal(result.url.origin + result.url.pathname, `${bed.node.url}/console/sign-in`);
      assert.equal(result.url.searchParams.get('return_to'), '/folders/1');
      const answer = await bed.exchange(result);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      const tokens = answer.json<LoginResponse>();
      assert.deepEqual(Object.keys(tokens).sort(), ['authToken', 'expires_in', 'refreshToken']);
      const viewer = await bed.other.query('{viewer{user{username isAdministrator}}}', tokens.authToken);
      assert.deepEqual(viewer.json(), {
        data: { viewer: { user: { username: 'ada', isAdministrator: false } } },
      });
      assert.equal((await bed.node.refresh(tokens)).status, 200);
    });

    test('finds the same user again, even with another user name at the provider', async () => {
      const first = await bed.logIn('grace');
      const user = bed.provider.users.get('grace')!;
      user.username = 'grace.hopper';
      const second = await bed.logIn('grace');
      user.username = 'grace';
      const idOf = async ({ authToken }: LoginResponse) =>
        (await bed.node.query('{viewer{user{id username}}}', authToken)).text;
      assert.equal(await idOf(second), await idOf(first));
    });

    test('continues on another node after each step', async () => {
      bed.provider.autoLogin = 'linus';
      const { verifier, callback } = await bed.signInUntilCallback('linus');
      const result = await bed.callBack(callback, verifier, bed.other);
      assert.equal((await bed.exchange(result, bed.node)).status, 200);
    });

    test('returns the code to a program on the same machine', async () => {
      for (const redirectUri of ['http://127.0.0.1:51000/program?a=1', 'http://[::1]:51000/program']) {
        const { url, code } = await bed.signIn('margaret', { redirectUri });
        assert.ok(url.href.startsWith(redirectUri));
        assert.ok(code);
      }
    });

    test('gives the code to a program only after a person has confirmed it', async () => {
      const browser = new CookieBrowser();
      await bed.signIn('margaret', { browser });
      // Any program on the machine can open this address. The browser is signed in at the provider, which shows no page.
      bed.provider.autoLogin = undefined;
      const { path, verifier } = bed.prepare({ redirectUri: 'http://127.0.0.1:51000/program?a=1' });
      const page = await browser.open(bed.node.url + path, ({ port }) => port === '51000');
      assert.equal(page.url.pathname, '/login/sso/callback');
      assert.equal(page.status, 200);
      assert.deepEqual(
        page.redirects.filter((each) => each.includes(':51000')),
        [],
      );
      assert.match(page.text, /<html lang="en">/);
      assert.match(page.text, /<bdi>margaret<\/bdi>/);
      assert.doesNotMatch(page.text, /<script|\son\w+=/i);
      assert.match(page.headers.get('content-type')!, /^text\/html/);
      assert.equal(page.headers.get('cache-control'), 'no-store');
      assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
      assert.match(
        page.headers.get('content-security-policy')!,
        /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      );
      const link = readProgramLink(page.text);
      assert.ok(link.href.startsWith('http://127.0.0.1:51000/program?a=1&code='));
      const code = link.searchParams.get('code')!;
      recordSecret('secret of a single sign-on', code);
      assert.equal((await bed.exchange({ code, verifier })).status, 200);
    });

    test('shows names from the provider and addresses of programs as text', async () => {
      bed.provider.addUser('markup', { username: `<img src=x onerror="alert(1)">&'` });
      const browser = new CookieBrowser();
      bed.provider.autoLogin = 'markup';
      const redirectUri = `http://127.0.0.1:51000/program?a='"><script>alert(1)</script>`;
      const page = await browser.open(bed.node.url + bed.prepare({ redirectUri }).path);
      assert.doesNotMatch(page.text, /<img|<script|onerror="/);
      assert.ok(page.text.includes('&#60;img src=x onerror=&#34;alert(1)&#34;&#62;&#38;&#39;'));
      recordSecret('secret of a single sign-on', readProgramLink(page.text).searchParams.get('code')!);
    });

    test('returns an error to a program without a page', async () => {
      bed.provider.addUser('left', { isDisabled: true });
      const redirectUri = 'http://127.0.0.1:51000/program';
      bed.provider.autoLogin = 'left';
      const { path } = bed.prepare({ redirectUri });
      const { url } = await new CookieBrowser().open(bed.node.url + path, ({ port }) => port === '51000');
      assert.ok(url.href.startsWith(redirectUri));
      assert.equal(url.searchParams.get('error'), 'FORBIDDEN');
    });

    test('gives the users of single sign-on no password', async () => {
      await bed.logIn('ada');
      for (const password of ['', 'a wrong password']) {
        const answer = await bed.node.post('/login', { username: 'ada', password });
        assert.equal(answer.status, 401);
        assert.equal(problemOf(answer).code, 'INVALID_CREDENTIALS');
      }
    });
  });
}
