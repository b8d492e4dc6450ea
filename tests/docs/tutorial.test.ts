/** Follows the tutorial in a clone, except for its `npm install`. */

import { test } from 'node:test';
import { findFreePort } from '../support/free-port.ts';
import { followPage } from './follow-page.ts';

// `npm run lab -- tutorial` also runs `npm install`, which needs both cores for half a minute, and uses port 8080.
test('every command of the tutorial works in a clone and prints the output on the page', async () => {
  await followPage('docs/tutorial.md', { isInstalled: true, port: await findFreePort() });
});
