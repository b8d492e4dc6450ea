/** Every command of the tutorial, pasted unchanged, produces the output on the page. */

import { test } from 'node:test';
import { findFreePort } from '../support/free-port.ts';
import { followPage } from './follow-page.ts';

// `npm run lab -- tutorial` also runs `npm install` and uses port 8080. Here that would take half a minute of both cores.
test('the tutorial in a clone leads to a client that shows the tree as it changes', async () => {
  await followPage('docs/tutorial.md', { isInstalled: true, port: await findFreePort() });
});
