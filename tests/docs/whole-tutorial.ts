/**
 * `npm run lab -- tutorial` follows the tutorial exactly: in a fresh clone, with `npm install` and port 8080. Takes a minute.
 */

import { test } from 'node:test';
import { followPage } from './follow-page.ts';

test('the tutorial works exactly as written', () => followPage('docs/tutorial.md', { isInstalled: false }));
