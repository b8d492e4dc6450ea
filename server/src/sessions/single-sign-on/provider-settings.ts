/** Selects the settings of the OpenID provider. */

import type { Settings } from '../../config/settings-table.ts';
import type { ProviderSettings } from './provider.ts';

/** The settings that `readSettings` requires together. */
export interface ProviderIdentification {
  readonly ssoIssuer: string;
  readonly ssoClientId: string;
  readonly publicUrl: string;
}

const callbackPath = '/login/sso/callback';

export function toProviderSettings(settings: Settings & ProviderIdentification): ProviderSettings {
  return {
    issuer: settings.ssoIssuer,
    clientId: settings.ssoClientId,
    clientSecret: settings.ssoClientSecret,
    scopes: settings.ssoScopes,
    redirectUri: settings.publicUrl + callbackPath,
    usernameClaim: settings.ssoUsernameClaim,
    groupsClaim: settings.ssoGroups && settings.ssoGroupsClaim,
  };
}

/** Undefined if single sign-on is not configured. */
export function withProvider(settings: Settings): (Settings & ProviderIdentification) | undefined {
  const { ssoIssuer, ssoClientId, publicUrl } = settings;
  if (ssoIssuer === undefined || ssoClientId === undefined || publicUrl === undefined) return undefined;
  return { ...settings, ssoIssuer, ssoClientId, publicUrl };
}
