/**
 * Loaded before each test file of a full run. It stops `node:test` from tracking promises, which takes a
 * fifth of the time. `node:test` needs the tracking only to find the test that caused an uncaught error.
 * Without it, the error fails the whole file. To find the test, run that file alone.
 * https://nodejs.org/api/async_hooks.html#async_hookscreatehookoptions
 */

import hooks from 'node:async_hooks';

const { createHook } = hooks;
hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
// `node:test` reads the function when it is loaded. Later callers get the original.
await import('node:test');
hooks.createHook = createHook;
