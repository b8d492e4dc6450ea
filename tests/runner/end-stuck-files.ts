/**
 * Loaded before each test file by `node --test`, which does not end a process that stays alive after its tests. For
 * example, a failed test may leave a server open. This module ends such a process with an error.
 */

import { afterEach, beforeEach } from 'node:test';
import { selectLength } from '../support/run-length.ts';

/** Longer than the timeouts of tests, so no test is running after this time. */
const idleMs = selectLength({ short: 200_000, long: 660_000 });
// Tests may replace the global functions.
const { clearTimeout, setTimeout } = globalThis;
let timer: NodeJS.Timeout | undefined;

if (process.argv[1]?.endsWith('.test.ts')) {
  beforeEach(restartTimer);
  afterEach(restartTimer);
}

function restartTimer(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    console.error(`The tests left open: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  }, idleMs).unref();
}
