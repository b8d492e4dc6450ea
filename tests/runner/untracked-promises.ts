/**
 * Loaded before each test file of a full run. It stops `node:test` from tracking promises, which takes a
 * fifth of the time. `node:test` needs the tracking only to find the test that caused an uncaught error.
 * Without it, the error fails the whole file. To find the test, run that file alone.
 * https://nodejs.org/api/async_hooks.html#async_hookscreatehookoptions
 */

import hooks from 'node:async_hooks';

const { createHook } = hooks;
hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
// `node:test` reads this function when the module loads, so later callers can get the original function.
await import('node:test');
hooks.createHook = createHook;
