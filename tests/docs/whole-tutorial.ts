/** `npm run tutorial`: follows the tutorial to the letter, with `npm install` in a fresh clone, on port 8080. Takes a minute. */

import { test } from 'node:test';
import { followPage } from './follow-page.ts';

test('the tutorial, to the letter', () => followPage('docs/tutorial.md', { isInstalled: false }));
