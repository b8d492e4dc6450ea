/** Requests that once ended the process: upgrades behind unanswered requests, and clients that hang up in a body. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sqlite } from './databases.ts';
import { RawConnection } from './raw-connection.ts';
import { Testbed } from './testbed.ts';

describe('hanging up at the wrong moment', () => {
  let bed: Testbed;
  before(async () => (bed = await Testbed.start(sqlite)));
  after(() => bed.stop());

  const goesOn = async () => {
    assert.equal((await bed.send('GET', '/livez')).status, 200);
    const errors = bed.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
    assert.deepEqual(errors, []);
  };

  test('an upgrade behind a request that is not answered ends the connection, and nothing else', async () => {
    const connection = await RawConnection.open(bed.url);
    connection.send(
      'GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    while (await connection.read());
    await goesOn();
  });

  for (const [what, head] of [
    ['of a media type that is none', 'POST /graphql HTTP/1.1\r\nContent-Type: /\r\n'],
    ['of a GET', 'GET /graphql?query={folder{name}} HTTP/1.1\r\n'],
    ['of JSON', 'POST /graphql HTTP/1.1\r\nContent-Type: application/json\r\n'],
  ] as const) {
    test(`a client that hangs up in a body ${what} is let go`, async () => {
      const { authToken } = await bed.logIn();
      for (let count = 0; count < 5; count++) {
        const connection = await RawConnection.open(bed.url);
        connection.send(
          `${head}Host: x\r\nAuthorization: Bearer ${authToken}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
        );
        await bed.send('GET', '/livez');
        connection.close();
        await goesOn();
      }
    });
  }
});
