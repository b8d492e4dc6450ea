/** Where the commands find a server, and who they are there. */

import { setting } from './setting.ts';
import { profileName, serverUrl } from './setting-values.ts';

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
