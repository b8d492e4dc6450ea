/** A server without traces does not load the tracing libraries. */

import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { test } from 'node:test';
import { sqlite } from '../support/databases.ts';

test('a server without ESPALIER_TRACES_URL loads no module of OpenTelemetry', async () => {
  const loadedUrls: string[] = [];
  registerHooks({
    load(url, context, next) {
      loadedUrls.push(url);
      return next(url, context);
    },
  });
  const { Testbed } = await import('../support/testbed.ts');
  const testbed = await Testbed.start(sqlite);
  const { authToken } = await testbed.logIn();
  assert.equal((await testbed.query('{ folder { name } }', authToken)).status, 200);
  await testbed.stop();
  assert.ok(loadedUrls.some((url) => url.endsWith('server/src/server.ts')));
  assert.deepEqual(
    loadedUrls.filter((url) => /\/src\/(tracing\/|spans\.ts|.*\/traced-)|@opentelemetry\//.test(url)),
    [],
  );
});
