/** Settings of the first start, of the log, and of the commands that call a server. */

import { setting } from './setting.ts';
import { oneOf, profileName, serverUrl, text, parseBoolean } from './setting-values.ts';

const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

export const startSettings = {
  adminUsername: setting({
    name: 'ADMIN_USERNAME',
    about: 'The administrator that the first start creates.',
    accepts: 'a user name of 1 to 128 characters, without control characters',
    default: 'admin',
    mayBeFile: true,
    parse: text,
  }),
  adminPassword: setting({
    name: 'ADMIN_PASSWORD',
    about:
      'The password of that administrator. Without it, one is generated and shown once. After the first start it is ignored: a new password is set in the console, or with `espalier user reset-password`.',
    accepts: 'a password',
    mayBeFile: true,
    isSecret: true,
    parse: text,
  }),
  demo: setting({
    name: 'DEMO',
    about: 'Adds a demonstration tree if there are no folders yet.',
    accepts: 'true or false',
    default: 'false',
    isSwitch: true,
    parse: parseBoolean,
  }),
  logLevel: setting({
    name: 'LOG_LEVEL',
    about:
      'How much is logged on standard error: in words if that is a terminal, as JSON lines otherwise. From info on, a line for each request.',
    accepts: `one of ${logLevels.join(', ')}`,
    default: 'info',
    parse: oneOf(logLevels),
  }),
};

/** Settings of the commands that call a server. */
export const commandLineSettings = {
  url: setting({
    name: 'URL',
    about: 'The API root of the server. Without it, the one of the last login under this profile.',
    accepts: 'an http or https URL, such as https://example.com/espalier',
    parse: serverUrl,
  }),
  profile: setting({
    name: 'PROFILE',
    about: 'Under which name the login is kept, for several servers or users at a time.',
    accepts: 'a name of letters, digits, dots, dashes and underlines',
    default: 'default',
    parse: profileName,
  }),
};
