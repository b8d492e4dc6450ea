/** The client of this page. The console uses only the public API. */

import { createClient, tabStorage } from '@espalier/client';
import { apiRoot } from '../console-address.ts';
import { currentView } from './view-as.ts';

export const client = createClient({
  url: apiRoot,
  // The name contains the server, so that sessions of several servers on one origin do not mix.
  storage: tabStorage({ name: `console:${apiRoot}` }),
  // Report failures soon, because a person is waiting. Subscriptions reconnect by themselves.
  retrySeconds: 8,
  viewAs: currentView?.viewToken,
});
