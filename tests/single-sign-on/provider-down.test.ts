/** A provider that does not respond, or not as the protocol requires, affects only single sign-on. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { administrator, problemOf, Testbed } from '../support/testbed.ts';
import { SignOnTestbed } from './sign-on-testbed.ts';
import type { ProviderFaults } from './test-provider.ts';

const challenge = 'c'.repeat(43);

/** Each changes what a server reads first. */
const discoveryFaults: Readonly<Record<string, ProviderFaults>> = {
  'an error': { status: 500 },
  'a redirect': { redirectTo: 'https://evil.example.com/.well-known/openid-configuration' },
  'another issuer': { metadata: (metadata) => ({ ...metadata, issuer: 'https://evil.example.com' }) },
  'an unprotected token endpoint': {
    metadata: (metadata) => ({ ...metadata, token_endpoint: 'http://evil.example.com/token' }),
  },
  'a sign-in page that is a script': {
    metadata: (metadata) => ({ ...metadata, authorization_endpoint: 'javascript:alert(1)' }),
  },
  'no end': { endless: '/.well-known/openid-configuration' },
  'no keys': { metadata: ({ jwks_uri: _, ...metadata }) => metadata },
};

for (const kind of databaseKinds) {
  describe(`a provider that does not respond, on ${kind.name}`, () => {
    let bed: SignOnTestbed;
    before(async () => {
      bed = await SignOnTestbed.start(kind);
      bed.provider.addUser('ada');
    });
    afterEach(() => bed.provider.resetFaults());
    after(() => bed.stop());

    const start = (node: Testbed, accept: string, query = '') =>
      node.send('GET', `/login/sso?challenge=${challenge}${query}`, {
        redirect: 'manual',
        headers: { accept },
      });

    test('does not prevent the start of the server and the login with a password', async () => {
      await bed.provider.stop();
      assert.equal((await start(bed.node, 'text/html')).status, 302);
      assert.ok(bed.node.logLines.some((line) => line.includes('ECONNREFUSED')));
      const answer = await start(bed.node, 'application/json');
      assert.equal(answer.status, 503);
      assert.equal(problemOf(answer).code, 'UNAVAILABLE');
      assert.ok(Number(answer.headers.get('retry-after')) > 0);
      assert.equal((await bed.node.post('/login', administrator)).status, 200);
    });

    test('sends a person back to the page that started the sign-in, with the reason', async () => {
      const toConsole = await start(bed.node, 'text/html', '&return_to=/users');
      assert.equal(toConsole.status, 302);
      const page = new URL(toConsole.headers.get('location')!);
      assert.equal(page.origin + page.pathname, `${bed.node.url}/console/sign-in`);
      assert.equal(page.searchParams.get('error'), 'UNAVAILABLE');
      assert.equal(page.searchParams.get('return_to'), '/users');
      const program = 'http://127.0.0.1:51000/program';
      const toProgram = await start(bed.node, 'text/html', `&redirect_uri=${program}`);
      assert.ok(
        toProgram.headers.get('location')!.startsWith(`${program}?error=UNAVAILABLE&error_description=`),
      );
      const invalid = await start(bed.node, 'text/html', '&redirect_uri=https://evil.example.com');
      assert.equal(invalid.status, 400);
    });

    test('is used again as soon as it responds', async () => {
      await bed.provider.listen();
      await bed.logIn('ada');
    });

    test('that fails during a sign-in leads to a clear error', async () => {
      const { verifier, callback } = await bed.signInUntilCallback('ada');
      bed.provider.setFaults({ status: 500 });
      const { error, code } = await bed.callBack(callback, verifier);
      assert.equal(error, 'UNAVAILABLE');
      assert.equal(code, undefined);
    });

    test('that does not accept the client leads to a log line with the settings to check', async () => {
      const settings = {
        ...bed.provider.settings,
        PUBLIC_URL: bed.node.url,
        SSO_CLIENT_SECRET: 'the wrong secret of this client',
      };
      const node = await Testbed.start(kind, { settings, database: bed.node.database });
      const { verifier, callback } = await bed.signInUntilCallback('ada');
      const { error } = await bed.callBack(callback, verifier, node);
      const line = node.logLines.find((each) => each.includes('A single sign-on failed.'));
      await node.stop();
      assert.equal(error, 'UNAVAILABLE');
      assert.match(line ?? '', /ESPALIER_SSO_CLIENT_ID and ESPALIER_SSO_CLIENT_SECRET/);
    });

    for (const path of ['/token', '/jwks', '/me']) {
      test(`does not fill the memory with a response of ${path} that has no end`, async () => {
        const settings = {
          ...bed.provider.settings,
          PUBLIC_URL: bed.node.url,
          SSO_USERNAME_CLAIM: 'only.in.userinfo',
        };
        const { database, clock } = bed.node;
        const node = await Testbed.start(kind, { settings, database, clock });
        const { verifier, callback } = await bed.signInUntilCallback('ada', node);
        bed.provider.setFaults({ endless: path });
        const before = bed.provider.endlessBytes;
        const logged = node.logLines.length;
        const { error, code } = await bed.callBack(callback, verifier, node);
        assert.deepEqual({ error, code }, { error: 'UNAVAILABLE', code: undefined });
        // The system also buffers some megabytes.
        assert.ok(bed.provider.endlessBytes - before < 32 * 1024 * 1024);
        assert.match(node.logLines.slice(logged).join('\n'), /does not respond as expected/);
        await node.stop();
      });
    }

    test('is not needed again for an hour after its addresses were read', async () => {
      bed.provider.setFaults({ status: 500 });
      bed.node.clock.advanceSeconds(2 * 60 * 60);
      assert.equal((await start(bed.node, 'application/json')).status, 302, 'the last addresses are used');
    });

    for (const [name, faults] of Object.entries(discoveryFaults)) {
      test(`refuses a discovery document with ${name}`, async () => {
        bed.provider.setFaults(faults);
        const settings = { ...bed.provider.settings, PUBLIC_URL: 'http://127.0.0.1:9' };
        const node = await Testbed.start(kind, { settings, database: bed.node.database });
        const answer = await start(node, 'application/json');
        bed.provider.resetFaults();
        const next = await start(node, 'application/json');
        await node.stop();
        assert.equal(answer.status, 503, answer.text);
        assert.equal(answer.headers.get('location'), null);
        assert.equal(next.status, 302);
      });
    }
  });

  describe(`without single sign-on on ${kind.name}`, () => {
    let testbed: Testbed;
    before(async () => (testbed = await Testbed.start(kind)));
    after(() => testbed.stop());

    test('the endpoints answer that it is not configured', async () => {
      for (const path of [`/login/sso?challenge=${challenge}`, '/login/sso/callback?state=x&code=y']) {
        const answer = await testbed.send('GET', path, { redirect: 'manual' });
        assert.equal(answer.status, 404, path);
        assert.match(problemOf(answer).detail, /not configured/);
      }
      assert.equal((await testbed.post('/login/sso', { code: 'x', verifier: 'y' })).status, 404);
      assert.equal((await testbed.post('/login/sso/logout', {})).status, 404);
      const methods = await testbed.send('GET', '/login/methods');
      assert.equal(methods.json<{ singleSignOn: unknown }>().singleSignOn, null);
    });
  });
}
