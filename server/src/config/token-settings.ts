/** Settings of tokens, of signing keys and of logins. */

import { onOrOff, optionalSetting, setting, text, wholeNumber } from './setting.ts';

const day = 86_400;

/** The upper bound of the setting. Data that must outlive every auth token is kept for this long. */
export const maxAuthTokenSeconds = day;

export const tokenSettings = {
  authTokenSeconds: setting('ACCESS_TOKEN_SECONDS', wholeNumber(1, maxAuthTokenSeconds), '600', {
    about: 'The lifetime of an auth token. Clients receive it as `expires_in`.',
  }),
  refreshTokenSeconds: setting('REFRESH_TOKEN_SECONDS', wholeNumber(1, 3650 * day), String(60 * day), {
    about: 'The lifetime of a refresh token, from the login or refresh that issued it.',
  }),
  reuseToleranceSeconds: setting('REUSE_TOLERANCE_SECONDS', wholeNumber(0, day), '60', {
    about:
      'A client may send a spent refresh token again within this time, for example after a lost response or from a second tab: the server only rejects it. Later, it counts as stolen, and the server also revokes its session.',
  }),
  refreshRetrySeconds: setting('REFRESH_RETRY_SECONDS', wholeNumber(0, 600), '0', {
    about:
      'If a client repeats a refresh with the same two tokens within this time, it receives the same new tokens again. Set it for clients on unreliable networks; 0 turns it off.',
  }),
  maxSessionsPerUser: setting('MAX_SESSIONS_PER_USER', wholeNumber(0, 1_000_000), '0', {
    about:
      'The maximum number of sessions of one user. A login beyond it revokes the least recently used session of the user. 0 sets no limit.',
  }),
  issuer: optionalSetting('ISSUER', text('a name or URL of at most 255 characters', /^.{1,255}$/s), {
    about:
      'The `iss` of auth tokens. Without it, the first start generates a name and stores it in the database. If you change it, every issued auth token becomes invalid.',
  }),
  keyRotationDays: setting('KEY_ROTATION_DAYS', wholeNumber(0, 3650), '90', {
    about:
      'The number of days after which a new signing key replaces the current one. Users stay logged in, because the old key still verifies tokens. 0 turns it off; use `espalier keys rotate` instead.',
  }),
  masterKey: optionalSetting('MASTER_KEY', text('32 or more random characters', /^.{32,}$/s), {
    about:
      'Encrypts the private signing keys in the database, so that a copy of the database is not enough to create tokens. Generate it, for example, with `openssl rand -base64 32`. Use the same on every node, and store it apart from the database and its backups.',
    mayBeFile: true,
    isSecret: true,
  }),
  introspectionClient: optionalSetting(
    'INTROSPECTION_CLIENT',
    text('a name, a colon and a password of at least 32 characters', /^[^:]+:.{32,}$/),
    {
      about:
        'The name and password (HTTP Basic) with which another service can check auth tokens at `/introspect`. Without it, this address does not exist.',
      mayBeFile: true,
      isSecret: true,
    },
  ),
  loginThrottle: setting('LOGIN_THROTTLE', onOrOff, 'on', {
    about:
      'Slows down password guessing: after 50 failed logins for one user name from one address, or 500 failed logins from one address, within 15 minutes. Turn it off for load tests only.',
  }),
};
