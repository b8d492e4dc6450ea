/**
 * Loaded before each test file of a whole run: `node:test` follows every promise to learn which test an uncaught error is
 * of, which takes a fifth of the time. Without that, such an error fails the file that it is of; run that file alone, and
 * it is told of the test. https://nodejs.org/api/async_hooks.html#async_hookscreatehookoptions
 */

import hooks from 'node:async_hooks';

const { createHook } = hooks;
hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
// It takes the function when it is loaded; whoever else asks gets the usual one.
await import('node:test');
hooks.createHook = createHook;
