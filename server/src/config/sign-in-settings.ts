/** The settings of single sign-on, and whether users may log in with a password. */

import {
  isLoopbackHost,
  oneOf,
  onOrOff,
  optionalSetting,
  setting,
  text,
  wholeNumber,
  type Kind,
} from './setting.ts';

/** A group of the provider, and the group of this server whose members it sets. */
export interface GroupMapping {
  readonly providerGroup: string;
  /** `administrators` for the administrator role. */
  readonly target: { readonly group: string } | 'administrators';
}

/** Means the administrator role. A group with this name is written `%40administrators`. */
const administratorRole = '@administrators';

/** The pairs are percent-encoded like the headers of traces, because group names can contain any character. */
export const groupMappings: Kind<readonly GroupMapping[]> = {
  accepts: `a comma-separated list of pairs such as staff=Editors, where staff is a group of the provider, and Editors a group of this server or ${administratorRole} for the administrator role, with special characters percent-encoded`,
  placeholder: 'groups',
  parse(input) {
    try {
      const pairs = input.split(',').map((pair) => pair.split('=').map((part) => part.trim()));
      if (!pairs.every(isMapping)) return undefined;
      return pairs.map(([providerGroup, group]) => ({
        providerGroup: decodeURIComponent(providerGroup!),
        target: group === administratorRole ? 'administrators' : { group: decodeURIComponent(group!) },
      }));
    } catch {
      return undefined;
    }
  },
};

/** A misspelled role must not silently become the name of a group. */
function isMapping(pair: readonly string[]): boolean {
  const [providerGroup, group = ''] = pair;
  const isRole = group === administratorRole;
  return pair.length === 2 && providerGroup !== '' && group !== '' && (isRole || !group.startsWith('@'));
}

/** The client secret and all tokens pass this connection, so only a provider on the same machine may use plain HTTP. */
export const issuerUrl: Kind<string> = {
  accepts:
    'an https URL without query and without /.well-known/openid-configuration, such as https://login.example.com/realms/main, or an http URL of this machine',
  placeholder: 'url',
  parse(input) {
    if (!URL.canParse(input)) return undefined;
    const { protocol, hostname, pathname, search, hash, username, password } = new URL(input);
    const isProtected = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
    // The address of the discovery document, which contains the issuer.
    const isDocument = pathname.includes('/.well-known/');
    return isProtected && !(isDocument || search || hash || username || password) ? input : undefined;
  },
};

const claimName = text('the name of a claim', /^[^\p{Cc}]{1,255}$/u, 'claim');
const onlyWith = 'SSO_ISSUER';

export const signInSettings = {
  passwordLogin: setting('PASSWORD_LOGIN', oneOf('on', 'administrators', 'off'), 'on', {
    about:
      'Which users may log in with a password: `on` for all users, `administrators` for administrators only, `off` for no user.',
  }),
  ssoIssuer: optionalSetting('SSO_ISSUER', issuerUrl, {
    about:
      'The issuer of an OpenID provider, with which users can sign in (single sign-on). The server reads the addresses of the provider from `/.well-known/openid-configuration` below this URL. Requires `ESPALIER_SSO_CLIENT_ID` and `ESPALIER_PUBLIC_URL`.',
  }),
  ssoClientId: optionalSetting('SSO_CLIENT_ID', text('the id of a client', /^[\x20-\x7e]{1,255}$/, 'id'), {
    about: 'The id under which this server is registered at the provider.',
    onlyWith,
  }),
  ssoClientSecret: optionalSetting('SSO_CLIENT_SECRET', text('the secret of the client'), {
    about:
      'The secret of the client at the provider. Without this setting, the server is a public client, which proves itself with PKCE only.',
    onlyWith,
    mayBeFile: true,
    isSecret: true,
  }),
  ssoName: setting(
    'SSO_NAME',
    text('a name of at most 64 characters', /^[^\p{Cc}]{1,64}$/u, 'name'),
    'single sign-on',
    {
      about:
        'The name of the provider. The sign-in page displays it on a button, for example “Sign in with Keycloak”.',
      onlyWith,
    },
  ),
  ssoScopes: setting(
    'SSO_SCOPES',
    text(
      'a space-separated list of scopes with openid',
      /^(?=(.* )?openid( |$))[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/,
      'scopes',
    ),
    'openid profile email',
    { about: 'The scopes that the server requests. They decide which claims the provider sends.', onlyWith },
  ),
  ssoUsernameClaim: setting('SSO_USERNAME_CLAIM', claimName, 'preferred_username', {
    about: 'The claim that becomes the user name of a user whom single sign-on creates.',
    onlyWith,
  }),
  ssoCreateUsers: setting('SSO_CREATE_USERS', onOrOff, 'off', {
    about:
      'Whether the server creates a user at the first sign-in of a person whom it does not know. With `off`, only users who linked their account can sign in.',
    onlyWith,
  }),
  ssoGroupsClaim: setting('SSO_GROUPS_CLAIM', claimName, 'groups', {
    about:
      'The claim that lists the groups of a person at the provider. For a claim inside another one, separate the names with dots, for example `realm_access.roles`.',
    onlyWith,
  }),
  ssoGroups: optionalSetting('SSO_GROUPS', groupMappings, {
    about: `The groups that single sign-on synchronizes at each sign-in. For example, \`staff=Staff,it=${administratorRole}\` makes members of \`staff\` at the provider members of the group Staff, and members of \`it\` administrators. Other people are removed from these groups and lose the role when they sign in. Groups that are not in the list do not change.`,
    onlyWith,
  }),
  ssoRecheckMinutes: setting('SSO_RECHECK_MINUTES', wholeNumber(0, 10_080, 'minutes'), '15', {
    about:
      'How often the server asks the provider whether a session of single sign-on may continue. It asks at most once in this time, after a refresh of the session, if the provider issued a refresh token. 0 turns the check off.',
    onlyWith,
  }),
};
