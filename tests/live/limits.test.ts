/**
 * The limit of open connections per user. A client cannot exceed it by keeping its end of a connection open.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { PeopleTestbed } from '../people/people-testbed.ts';
import { SocketClient } from './socket-client.ts';

for (const kind of databaseKinds) {
  describe(`a server with a connection limit on ${kind.name}`, () => {
    let people: PeopleTestbed;
    before(async () => {
      people = await PeopleTestbed.start(kind, { settings: { MAX_CONNECTIONS: '3' } });
    });
    after(() => people.stop());

    const openStream = (authToken: string, signal: AbortSignal) =>
      fetch(`${people.server.url}/graphql`, {
        method: 'POST',
        signal,
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          authorization: `Bearer ${authToken}`,
        },
        body: JSON.stringify({ query: 'subscription{folderChanges{kind}}' }),
      });

    for (const protocol of ['graphql-transport-ws', 'graphql-ws']) {
      test(`limits the ${protocol} sockets of each user separately`, async () => {
        const person = await people.createUser();
        const { authToken } = await people.logIn(person);
        const open = () => SocketClient.connect(people.server.url, authToken, { protocols: [protocol] });
        const sockets = [await open(), await open(), await open()];
        const fourth = await SocketClient.open(people.server.url, { protocols: [protocol] });
        fourth.init(authToken);
        const { code, reason } = await fourth.closed();
        assert.equal(code, 1013);
        assert.match(reason, /You have 3 open sockets and event streams/);
        const other = await SocketClient.connect(people.server.url, people.authToken);
        await sockets.pop()!.close();
        sockets.push(await open());
        await Promise.all([...sockets, other].map((socket) => socket.close()));
      });
    }

    test('counts event streams as connections, and rejects further ones with 503', async () => {
      const person = await people.createUser();
      const { authToken } = await people.logIn(person);
      const controllers = [new AbortController(), new AbortController(), new AbortController()];
      // Kept until the end: fetch closes the connection of a response that is garbage-collected.
      const streams: Response[] = [];
      for (const { signal } of controllers) streams.push(await openStream(authToken, signal));
      const refused = await openStream(authToken, new AbortController().signal);
      assert.equal(refused.status, 503);
      assert.ok(refused.headers.get('retry-after'));
      assert.match(await refused.text(), /UNAVAILABLE/);
      // Queries do not count as connections.
      assert.equal((await people.server.query('{__typename}', authToken)).status, 200);
      assert.deepEqual(
        streams.map(({ status }) => status),
        [200, 200, 200],
      );
      controllers.forEach((controller) => controller.abort());
    });

    test('closes the connection after an invalid upgrade request, even if the client does not', async () => {
      const { hostname, port } = new URL(people.server.url);
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
      socket.write(
        [
          'GET /graphql HTTP/1.1',
          `Host: ${hostname}`,
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: bad',
          '',
          '',
        ].join('\r\n'),
      );
      let response = '';
      socket.on('data', (data: Buffer) => (response += data.toString()));
      await once(socket, 'end');
      assert.match(response, /^HTTP\/1\.1 400 /);
      // The server has closed its end, so a write fails.
      const writing = setInterval(() => socket.write('still here'), 10);
      const error = await new Promise<NodeJS.ErrnoException>((resolve) => socket.on('error', resolve));
      clearInterval(writing);
      assert.match(error.code ?? '', /^(EPIPE|ECONNRESET)$/);
    });
  });
}
