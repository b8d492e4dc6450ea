/** The short form of `npm run lab -- slow-clients`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultTimeouts } from '../../server/src/http/guards/timeouts.ts';
import { dataOf, StubApp } from '../live/stub-app.ts';
import { RawConnection } from '../support/raw-connection.ts';

const slowClientCount = 200;
const requestCount = 100;

test('a server serves other requests while 200 slow clients are connected, and disconnects these clients', async () => {
  const app = await StubApp.start({
    httpTimeouts: { ...defaultTimeouts, headersMs: 3_000, bodyMs: 1_000, checkEveryMs: 100 },
  });
  app.open = () => dataOf({ ok: true });
  const incompleteHead = 'POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  const incompleteRequests = [
    '',
    'GET /li',
    `${incompleteHead}X-Slow: `,
    `${incompleteHead}Content-Length: 100\r\n\r\n{"user`,
  ];
  const slowConnections = await Promise.all(
    Array.from({ length: slowClientCount }, () => RawConnection.open(app.url)),
  );
  const ends = slowConnections.map((connection, index) =>
    connection.exchange(incompleteRequests[index % incompleteRequests.length]!),
  );

  const responses = Array.from({ length: requestCount }, async (_, index) => {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${app.token(`person${index}`)}`,
      },
      body: JSON.stringify({ query: '{folder{name}}' }),
    });
    return response.text();
  });
  assert.deepEqual(new Set(await Promise.all(responses)), new Set(['{"data":{"ok":true}}']));
  assert.deepEqual(new Set((await Promise.all(ends)).map((answer) => answer?.status)), new Set([408]));
  await app.stop();
});
