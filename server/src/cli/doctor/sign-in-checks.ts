/** Checks whether the provider of single sign-on responds, and who can sign in if it does not. */

import { Provider, ProviderError } from '../../sessions/single-sign-on/provider.ts';
import { toProviderSettings, withProvider } from '../../sessions/single-sign-on/provider-settings.ts';
import { ok, problem, warning, type CheckContext, type Findings } from './check-context.ts';

/** Yields nothing if single sign-on is not configured. */
export async function* checkSingleSignOn({ settings, clock }: CheckContext): Findings {
  const configured = withProvider(settings);
  if (!configured) return;
  const { ssoIssuer, ssoClientSecret, masterKey, ssoRecheckMinutes, passwordLogin } = configured;
  const providerSettings = toProviderSettings(configured);
  try {
    await new Provider(providerSettings, clock).connect();
    yield ok(`The provider ${ssoIssuer} responds. Its redirect URI must be ${providerSettings.redirectUri}.`);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    yield problem(
      `Single sign-on does not work. ${error.message}`,
      'Compare ESPALIER_SSO_ISSUER with the field issuer of the discovery document, and check that this machine can reach the provider.',
    );
  }
  const { pathname } = new URL(configured.publicUrl);
  if (pathname.replace(/\/$/, '') !== configured.basePath) {
    yield warning(
      `The path of ESPALIER_PUBLIC_URL is ${pathname}, and ESPALIER_BASE_PATH is ${configured.basePath || '/'}.`,
      'Set the same path in both, unless a reverse proxy removes the path from requests.',
    );
  }
  if (ssoRecheckMinutes > 0 && ssoClientSecret === undefined && masterKey === undefined) {
    yield warning(
      'Sessions of single sign-on are not checked again, because the refresh tokens of the provider cannot be encrypted.',
      'Set ESPALIER_MASTER_KEY_FILE, or ESPALIER_SSO_RECHECK_MINUTES=0 if this is intended.',
    );
  }
  if (passwordLogin === 'off') {
    yield warning(
      'No user can log in with a password if the provider does not respond.',
      'Set ESPALIER_PASSWORD_LOGIN=administrators, and keep an administrator with a password.',
    );
  }
}
