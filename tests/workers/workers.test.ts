/** A server with two workers on one port behaves like a server with one process. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { SocketClient } from '../live/socket-client.ts';
import { raceRefreshes } from '../many-nodes/refresh-race.ts';
import { startProcessTimer } from '../support/process-timer.ts';
import type { RawConnection } from '../support/raw-connection.ts';
import { sendQuery, isAlive, post, WorkersTestbed, workerOf } from './workers-testbed.ts';

const createMutation = 'mutation($name:String!){createFolder(input:{name:$name}){folder{id}}}';
const maxConnections = 3;
/** The number of wrong passwords for one name from one address before the throttle starts: login-throttle.ts. */
const maxFailures = 50;

for (const kind of databaseKinds) {
  describe(`a server with two workers on ${kind.name}`, () => {
    let testbed: WorkersTestbed;
    let token: string;
    let one: RawConnection;
    let other: RawConnection;
    before(async () => {
      testbed = await WorkersTestbed.start(kind, { MAX_CONNECTIONS: String(maxConnections) });
      token = (await testbed.logIn()).authToken;
      [one, other] = (await testbed.connectToEach(token)) as [RawConnection, RawConnection];
    });
    after(() => testbed.stop());

    test('prints the addresses once and creates one administrator', async () => {
      assert.equal(testbed.node.output.match(/is running/g)?.length, 1);
      assert.equal(testbed.node.output.match(/First start/g)?.length, 1);
      const { body } = await sendQuery(one, '{users{totalCount}}', token);
      assert.match(body, /"totalCount":1\b/);
    });

    test('distributes keep-alive connections over both workers', async () => {
      const connections = await Promise.all(Array.from({ length: 40 }, () => testbed.connect()));
      const numbers = await Promise.all(connections.map((connection) => workerOf(connection, token)));
      // The kernel chooses the worker by a hash. Fewer than 5 of 40 happens about once in 5 million runs.
      for (const worker of [1, 2]) {
        assert.ok(numbers.filter((number) => number === worker).length >= 5, numbers.join(' '));
      }
      for (const connection of connections) connection.close();
    });

    test('sends a change of one worker to a socket of the other', async () => {
      const client = await testbed.openSocketTo(2, token);
      const { body } = await sendQuery(one, '{cursor}', token);
      const { cursor } = (JSON.parse(body) as { data: { cursor: string } }).data;
      // A cursor is set, because the subscription may start before or after the change.
      const follow = 'subscription($after:String){folderChanges(after:$after){kind folder{name}}}';
      client.start('1', follow, { after: cursor });
      assert.equal((await sendQuery(one, createMutation, token, { name: 'delivered' })).status, 200);
      const elapsed = startProcessTimer();
      assert.match(JSON.stringify(await client.next()), /"name":"delivered"/);
      assert.ok(elapsed() < 1000, 'the delivery took longer than a second');
      await client.close();
    });

    test('lets exactly one of several concurrent refreshes of a token succeed', async () => {
      await raceRefreshes([testbed.node], 5);
    });

    test('rejects a session at one worker within a second after the other worker revoked it', async () => {
      const { authToken } = await testbed.logIn();
      const { body } = await sendQuery(one, '{viewer{session{id}}}', authToken);
      const { id } = (JSON.parse(body) as { data: { viewer: { session: { id: string } } } }).data.viewer
        .session;
      assert.equal((await sendQuery(other, '{folder{name}}', authToken)).status, 200);
      await sendQuery(one, 'mutation($id:ID!){revokeSession(input:{id:$id}){revokedSessionId}}', token, {
        id,
      });
      const elapsed = startProcessTimer();
      await eventually(
        async () => (await sendQuery(other, '{folder{name}}', authToken)).status === 401,
        'the other worker refuses the session',
      );
      assert.ok(elapsed() < 1000, 'the revocation took longer than a second');
    });

    test('does not repeat a change with an idempotency key at the other worker', async () => {
      const request = post('/graphql', { query: createMutation, variables: { name: 'once' } }, token).replace(
        'Host:',
        'Idempotency-Key: the-same\r\nHost:',
      );
      const answers = [await one.exchange(request), await other.exchange(request)];
      assert.match(answers[0]!.body, /"createFolder":\{"folder":\{"id":/);
      assert.equal(answers[1]!.body, answers[0]!.body);
    });

    test('limits the sockets of a user across both workers', async () => {
      const clients: SocketClient[] = [];
      for (let count = 0; count < maxConnections; count++) {
        clients.push(await SocketClient.connect(testbed.node.url, token));
      }
      const canConnect = async () => {
        try {
          await (await SocketClient.connect(testbed.node.url, token)).close();
          return true;
        } catch {
          return false;
        }
      };
      // Each worker sends its number of sockets to the other. A socket that opens before the message arrives is accepted.
      await eventually(async () => !(await canConnect()), 'another socket is refused');
      await Promise.all(clients.map((client) => client.close()));
      await eventually(canConnect, 'another socket is accepted again');
    });

    test('adds up the wrong passwords of both workers', async () => {
      const connections = await Promise.all(Array.from({ length: 12 }, () => testbed.connect()));
      const request = post('/login', { username: 'nobody', password: 'not the right one' });
      const statuses: (number | undefined)[] = [];
      await Promise.all(
        connections.map(async (connection) => {
          for (let count = 0; count < 5; count++) statuses.push((await connection.exchange(request))?.status);
        }),
      );
      const wrongCount = statuses.filter((status) => status === 401).length;
      const throttledCount = statuses.filter((status) => status === 429).length;
      assert.equal(wrongCount + throttledCount, statuses.length, statuses.join(' '));
      // One more attempt is possible after the first pause if the machine was busy for a second.
      assert.ok(
        wrongCount === maxFailures || wrongCount === maxFailures + 1,
        `${wrongCount} passwords were checked`,
      );
      for (const connection of connections) connection.close();
    });

    test('replaces a killed worker and loses no acknowledged change', async () => {
      const { body } = await sendQuery(one, createMutation, token, { name: 'kept' });
      assert.match(body, /"id"/);
      const [firstPid] = testbed.workerPids;
      process.kill(firstPid!, 'SIGKILL');
      assert.equal(await one.read(), undefined);
      assert.match((await sendQuery(other, '{folder(path:"/kept"){name}}', token)).body, /"name":"kept"/);
      await testbed.node.waitForOutput('a worker is ready again');
      assert.ok(!isAlive(firstPid!));
      const [newConnection] = await testbed.connectToEach(token);
      assert.match(
        (await sendQuery(newConnection!, '{folder(path:"/kept"){name}}', token)).body,
        /"name":"kept"/,
      );
    });
  });
}
