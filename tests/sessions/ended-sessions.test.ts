/** An auth token stays valid for some minutes after a logout. It must not create access that lasts longer. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { decodeBase32 } from '../second-factors/authenticator-app.ts';
import { FactorTestbed } from '../second-factors/factor-testbed.ts';
import { SoftwareAuthenticator } from '../second-factors/software-authenticator.ts';
import { SignOnTestbed } from '../single-sign-on/sign-on-testbed.ts';
import { databaseKinds } from '../support/databases.ts';

const refusal = 'FORBIDDEN: Your session has ended. Sign in again, and repeat this.';

for (const kind of databaseKinds) {
  describe(`a session that was logged out on ${kind.name}`, () => {
    let bed: SignOnTestbed;
    let people: FactorTestbed;
    before(async () => {
      bed = await SignOnTestbed.start(kind, { host: 'localhost' });
      people = new FactorTestbed(bed.node, (await bed.node.logIn()).authToken);
    });
    after(() => bed.stop());

    const logOut = async ({ refreshToken }: LoginResponse) => {
      assert.equal((await bed.node.post('/logout', { refreshToken })).status, 204);
    };

    test('does not link an account', async () => {
      bed.provider.addUser('mallory');
      const tokens = await people.logIn(await people.createUser());
      const { code, verifier } = await bed.signIn('mallory');
      await logOut(tokens);
      const input = { code, verifier };
      assert.equal(await people.mutationError('linkSingleSignOn', input, tokens.authToken), refusal);
    });

    test('does not start an enrolment without a proof', async () => {
      bed.provider.addUser('ada');
      const tokens = await bed.logIn('ada');
      await logOut(tokens);
      assert.equal(await people.mutationError('startTotpEnrolment', {}, tokens.authToken), refusal);
    });

    test('does not complete the enrolment of an authenticator app', async () => {
      const user = await people.createUser();
      const tokens = await people.logIn(user);
      const { authToken } = tokens;
      const proof = { password: user.password };
      type Started = { secret: string };
      const started = await people.mutate<Started>('startTotpEnrolment', { proof }, 'secret', authToken);
      const code = people.code({ secret: decodeBase32(started.secret) });
      await logOut(tokens);
      assert.equal(await people.mutationError('confirmTotpEnrolment', { code }, authToken), refusal);
      assert.equal(await people.outcome(user), 'SUCCESS');
    });

    test('does not complete the enrolment of a passkey', async () => {
      const user = await people.createUser();
      const tokens = await people.logIn(user);
      const { authToken } = tokens;
      const { challengeId, options } = await people.startPasskey(authToken, { password: user.password });
      const authenticator = new SoftwareAuthenticator(`http://localhost:${new URL(bed.node.url).port}`);
      const input = { challengeId, response: authenticator.create(options), name: 'Phone' };
      await logOut(tokens);
      assert.equal(await people.mutationError('finishPasskeyEnrolment', input, authToken), refusal);
      assert.equal(await people.outcome(user), 'SUCCESS');
    });

    test('does not create an API key', async () => {
      const tokens = await people.logIn(await people.createUser());
      await logOut(tokens);
      const input = { name: 'deploy', level: 'READ' };
      assert.equal(await people.mutationError('createApiKey', input, tokens.authToken), refusal);
    });
  });
}
