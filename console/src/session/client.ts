/** The one client of this page: the console can do only what every client can. */

import { createClient, tabStorage } from '@espalier/client';
import { apiRoot } from '../console-address.ts';

export const client = createClient({
  url: apiRoot,
  // Another name for each server of an origin, so that their sessions do not mix.
  storage: tabStorage({ name: `console:${apiRoot}` }),
  // Who looks at a page wants to know soon that it does not work; what is followed comes back by itself.
  retrySeconds: 8,
});
