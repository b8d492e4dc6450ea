/** How much one user may have open, and that nobody gets more by never closing. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../databases.ts';
import { PeopleBed } from '../people/people-bed.ts';
import { SocketClient } from './socket-client.ts';

for (const kind of databaseKinds) {
  describe(`limits of connections on ${kind.name}`, () => {
    let people: PeopleBed;
    before(async () => {
      people = await PeopleBed.start(kind, { settings: { MAX_CONNECTIONS: '3' } });
    });
    after(() => people.stop());

    const stream = (authToken: string, signal: AbortSignal) =>
      fetch(`${people.bed.url}/graphql`, {
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
      test(`a user has so many sockets of ${protocol} and no more; another user has their own`, async () => {
        const person = await people.createUser();
        const { authToken } = await people.logIn(person);
        const open = () => SocketClient.connect(people.bed.url, authToken, { protocols: [protocol] });
        const sockets = [await open(), await open(), await open()];
        const fourth = await SocketClient.open(people.bed.url, { protocols: [protocol] });
        fourth.init(authToken);
        const { code, reason } = await fourth.closed();
        assert.equal(code, 1013);
        assert.match(reason, /3 connections/);
        const other = await SocketClient.connect(people.bed.url, people.authToken);
        await sockets.pop()!.close();
        sockets.push(await open());
        await Promise.all([...sockets, other].map((socket) => socket.close()));
      });
    }

    test('event streams count, too, and are refused with 503', async () => {
      const person = await people.createUser();
      const { authToken } = await people.logIn(person);
      const ends = [new AbortController(), new AbortController(), new AbortController()];
      for (const { signal } of ends) assert.equal((await stream(authToken, signal)).status, 200);
      const refused = await stream(authToken, new AbortController().signal);
      assert.equal(refused.status, 503);
      assert.ok(refused.headers.get('retry-after'));
      assert.match(await refused.text(), /UNAVAILABLE/);
      // Queries need no place.
      assert.equal((await people.bed.query('{__typename}', authToken)).status, 200);
      ends.forEach((end) => end.abort());
    });

    test('an upgrade that cannot be read is answered, and its connection ended even if the client keeps it open', async () => {
      const { hostname, port } = new URL(people.bed.url);
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
      let answer = '';
      socket.on('data', (data: Buffer) => (answer += data.toString()));
      await once(socket, 'end');
      assert.match(answer, /^HTTP\/1\.1 400 /);
      // Nobody is at the other end any more: writing breaks it.
      const writing = setInterval(() => socket.write('still here'), 10);
      const error = await new Promise<NodeJS.ErrnoException>((resolve) => socket.on('error', resolve));
      clearInterval(writing);
      assert.match(error.code ?? '', /^(EPIPE|ECONNRESET)$/);
    });
  });
}
