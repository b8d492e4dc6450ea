/** The promise of the tutorial: every command, pasted as it stands, leads to what the page shows. */

import { test } from 'node:test';
import { findFreePort } from '../support/free-port.ts';
import { followPage } from './follow-page.ts';

// `npm run tutorial` does all of it, with `npm install` and on port 8080; here, that would take half a minute of both cores.
test('whoever pastes the commands of the tutorial into a clone reaches a client that shows the tree as it changes', async () => {
  await followPage('docs/tutorial.md', { isInstalled: true, port: await findFreePort() });
});
