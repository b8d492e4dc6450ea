import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkSingleSignOn } from '../../server/src/cli/doctor/sign-in-checks.ts';
import { runDoctorCheck } from '../cli/doctor/doctor-findings.ts';
import { TestProvider } from './test-provider.ts';

describe("the doctor's check of single sign-on", () => {
  let provider: TestProvider;
  before(async () => (provider = await TestProvider.start({ publicUrl: 'http://127.0.0.1:9' })));
  after(() => provider.stop());

  const run = (settings: Readonly<Record<string, string>> = {}) =>
    runDoctorCheck(checkSingleSignOn, {
      settings: { ...provider.settings, PUBLIC_URL: 'http://127.0.0.1:9', ...settings },
    });

  test('names the redirect URI if the provider responds', async () => {
    assert.deepEqual(await run(), [
      `ok: The provider ${provider.issuer} responds. Its redirect URI must be http://127.0.0.1:9/login/sso/callback.`,
    ]);
  });

  test('reports a provider that does not respond, or has another issuer', async () => {
    provider.setFaults({ metadata: (metadata) => ({ ...metadata, issuer: 'https://evil.example.com' }) });
    assert.match((await run()).join(), /^problem: Single sign-on does not work\..*issuer/);
    provider.setFaults({ status: 500 });
    assert.match((await run()).join(), /^problem: Single sign-on does not work\./);
    provider.resetFaults();
  });

  test('warns if sessions cannot be checked, and if no user can log in without the provider', async () => {
    const [, unchecked, noPassword] = await run({ SSO_CLIENT_SECRET: '', PASSWORD_LOGIN: 'off' });
    assert.match(unchecked!, /^warning: Sessions of single sign-on are not checked again/);
    assert.match(noPassword!, /^warning: No user can log in with a password/);
  });

  test('warns if the public URL and the base path differ', async () => {
    const PUBLIC_URL = 'http://127.0.0.1:9/tree';
    const [, different] = await run({ PUBLIC_URL });
    assert.match(
      different!,
      /^warning: The path of ESPALIER_PUBLIC_URL is \/tree, and ESPALIER_BASE_PATH is \/\./,
    );
    assert.equal((await run({ PUBLIC_URL, BASE_PATH: '/tree/' })).length, 1);
  });
});
