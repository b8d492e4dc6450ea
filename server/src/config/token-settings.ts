/** Settings of tokens, of signing keys and of logins. */

import { setting } from './setting.ts';
import { wholeNumber, parseBoolean } from './setting-values.ts';

const day = 86_400;

/** The upper bound of the setting. Data that must outlive every auth token is kept for this long. */
export const maxAuthTokenSeconds = day;

export const tokenSettings = {
  accessTokenSeconds: setting({
    name: 'ACCESS_TOKEN_SECONDS',
    about: 'How long an auth token lives; reported to clients as `expires_in`.',
    accepts: `a whole number from 1 to ${maxAuthTokenSeconds}`,
    default: '600',
    parse: wholeNumber(1, maxAuthTokenSeconds),
  }),
  refreshTokenSeconds: setting({
    name: 'REFRESH_TOKEN_SECONDS',
    about: 'How long a refresh token lives, from the login or refresh that issued it.',
    accepts: `a whole number from 1 to ${3650 * day}`,
    default: String(60 * day),
    parse: wholeNumber(1, 3650 * day),
  }),
  reuseToleranceSeconds: setting({
    name: 'REUSE_TOLERANCE_SECONDS',
    about:
      'A spent refresh token that comes back within this time is taken for a lost reply or a second tab; later it is taken for theft and ends its session.',
    accepts: `a whole number from 0 to ${day}`,
    default: '60',
    parse: wholeNumber(0, day),
  }),
  refreshRetrySeconds: setting({
    name: 'REFRESH_RETRY_SECONDS',
    about:
      'Within this time the identical pair of tokens gets the identical new pair again, for clients on bad networks; 0 turns it off.',
    accepts: 'a whole number from 0 to 600',
    default: '0',
    parse: wholeNumber(0, 600),
  }),
  maxSessionsPerUser: setting({
    name: 'MAX_SESSIONS_PER_USER',
    about:
      'How many sessions one user may have at a time. A login beyond that ends the least recently used session of the user. 0 sets no limit.',
    accepts: 'a whole number from 0 to 1000000',
    default: '0',
    parse: wholeNumber(0, 1_000_000),
  }),
  issuer: setting({
    name: 'ISSUER',
    about:
      'The `iss` of auth tokens. Without it, a name is made at the first start and stored in the database. Changing it makes every issued auth token invalid.',
    accepts: 'a name or URL of at most 255 characters',
    parse: (input) => (input && input.length <= 255 ? input : undefined),
  }),
  keyRotationDays: setting({
    name: 'KEY_ROTATION_DAYS',
    about:
      'After how many days a new signing key takes over; 0 leaves it to `espalier keys rotate`. Nobody notices: the old key goes on verifying.',
    accepts: 'a whole number from 0 to 3650',
    default: '90',
    parse: wholeNumber(0, 3650),
  }),
  masterKey: setting({
    name: 'MASTER_KEY',
    about:
      'Seals the private signing keys in the database: without it nobody who has a copy of the database can make tokens. The same on every node; keep it elsewhere than the database and its backups.',
    accepts: 'a random text of at least 32 characters, such as openssl rand -base64 32 makes',
    mayBeFile: true,
    isSecret: true,
    parse: (input) => (input.length >= 32 ? input : undefined),
  }),
  introspectionClient: setting({
    name: 'INTROSPECTION_CLIENT',
    about:
      'Lets another service ask at `/introspect` whether an auth token is good, with this name and password (HTTP Basic). Without it there is no such address.',
    accepts: 'a name, a colon and a password of at least 32 characters',
    mayBeFile: true,
    isSecret: true,
    parse: (input) => (/^[^:]+:.{32,}$/.test(input) ? input : undefined),
  }),
  loginThrottle: setting({
    name: 'LOGIN_THROTTLE',
    about:
      'Slows down whoever guesses passwords: after 50 failures for one user name or 500 in all, from one address within 15 minutes. Turn it off for load tests only.',
    accepts: 'on or off',
    default: 'on',
    parse: parseBoolean,
  }),
};
