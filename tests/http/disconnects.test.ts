/**
 * Requests that once crashed the process: upgrades after unanswered requests, and clients that disconnect within a
 * body.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { Testbed } from '../support/testbed.ts';

describe('a disconnect', () => {
  let testbed: Testbed;
  before(async () => (testbed = await Testbed.start(sqlite)));
  after(() => testbed.stop());

  const assertStillServing = async () => {
    assert.equal((await testbed.send('GET', '/livez')).status, 200);
    const errors = testbed.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
    assert.deepEqual(errors, []);
  };

  test('closes only its own connection when an upgrade follows an unanswered request', async () => {
    const connection = await RawConnection.open(testbed.url);
    connection.send(
      'GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    while (await connection.read());
    await assertStillServing();
  });

  for (const [what, head] of [
    ['of an invalid media type', 'POST /graphql HTTP/1.1\r\nContent-Type: /\r\n'],
    ['of a GET', 'GET /graphql?query={folder{name}} HTTP/1.1\r\n'],
    ['of JSON', 'POST /graphql HTTP/1.1\r\nContent-Type: application/json\r\n'],
  ] as const) {
    test(`does not affect the server within a body ${what}`, async () => {
      const { authToken } = await testbed.logIn();
      for (let count = 0; count < 5; count++) {
        const connection = await RawConnection.open(testbed.url);
        connection.send(
          `${head}Host: x\r\nAuthorization: Bearer ${authToken}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
        );
        await testbed.send('GET', '/livez');
        connection.close();
        await assertStillServing();
      }
    });
  }
});
