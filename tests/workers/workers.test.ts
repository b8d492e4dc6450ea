/** Two workers on one port: whichever of them is asked, they are one server. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { SocketClient } from '../live/socket-client.ts';
import { raceRefreshes } from '../many-nodes/refresh-race.ts';
import { startProcessTimer } from '../support/own-time.ts';
import type { RawConnection } from '../support/raw-connection.ts';
import { ask, isAlive, post, WorkersBed, workerOf } from './workers-bed.ts';

const create = 'mutation($name:String!){createFolder(input:{name:$name}){folder{id}}}';
const mostConnections = 3;
/** Wrong passwords of one name from one address that are answered as if there were none: login-throttle.ts. */
const mostFailures = 50;

for (const kind of databaseKinds) {
  describe(`two workers on ${kind.name}`, () => {
    let bed: WorkersBed;
    let token: string;
    let one: RawConnection;
    let other: RawConnection;
    before(async () => {
      bed = await WorkersBed.start(kind, { MAX_CONNECTIONS: String(mostConnections) });
      token = (await bed.logIn()).authToken;
      [one, other] = (await bed.connectToEach(token)) as [RawConnection, RawConnection];
    });
    after(() => bed.stop());

    test('they say once where everything is, and there is one administrator', async () => {
      assert.equal(bed.node.output.match(/is running/g)?.length, 1);
      assert.equal(bed.node.output.match(/First start/g)?.length, 1);
      const { body } = await ask(one, '{users{totalCount}}', token);
      assert.match(body, /"totalCount":1\b/);
    });

    test('distributes keep-alive connections over both workers', async () => {
      const connections = await Promise.all(Array.from({ length: 40 }, () => bed.connect()));
      const numbers = await Promise.all(connections.map((connection) => workerOf(connection, token)));
      // The kernel chooses the worker by a hash. Fewer than 5 of 40 happens about once in 5 million runs.
      for (const worker of [1, 2]) {
        assert.ok(numbers.filter((number) => number === worker).length >= 5, numbers.join(' '));
      }
      for (const connection of connections) connection.close();
    });

    test('a change by one worker reaches a socket of the other', async () => {
      const client = await bed.socketTo(2, token);
      const { body } = await ask(one, '{cursor}', token);
      const { cursor } = (JSON.parse(body) as { data: { cursor: string } }).data;
      // After a cursor: whether it has begun by then is as it comes.
      const follow = 'subscription($after:String){folderChanges(after:$after){kind folder{name}}}';
      client.start('1', follow, { after: cursor });
      assert.equal((await ask(one, create, token, { name: 'told' })).status, 200);
      const elapsed = startProcessTimer();
      assert.match(JSON.stringify(await client.next()), /"name":"told"/);
      assert.ok(elapsed() < 1000, 'it took longer than a second');
      await client.close();
    });

    test('of refreshes that race over both, exactly one wins', async () => {
      await raceRefreshes([bed.node], 5);
    });

    test('a session that is ended by one is refused by the other within a second', async () => {
      const { authToken } = await bed.logIn();
      const { body } = await ask(one, '{viewer{session{id}}}', authToken);
      const { id } = (JSON.parse(body) as { data: { viewer: { session: { id: string } } } }).data.viewer
        .session;
      assert.equal((await ask(other, '{folder{name}}', authToken)).status, 200);
      await ask(one, 'mutation($id:ID!){revokeSession(input:{id:$id}){revokedSessionId}}', token, { id });
      const elapsed = startProcessTimer();
      await eventually(
        async () => (await ask(other, '{folder{name}}', authToken)).status === 401,
        'the other worker refuses',
      );
      assert.ok(elapsed() < 1000, 'it took longer than a second');
    });

    test('what was done with an idempotency key by one is not done again by the other', async () => {
      const request = post('/graphql', { query: create, variables: { name: 'once' } }, token).replace(
        'Host:',
        'Idempotency-Key: the-same\r\nHost:',
      );
      const answers = [await one.exchange(request), await other.exchange(request)];
      assert.match(answers[0]!.body, /"createFolder":\{"folder":\{"id":/);
      assert.equal(answers[1]!.body, answers[0]!.body);
    });

    test('a user has no more sockets with both than with one', async () => {
      const clients: SocketClient[] = [];
      for (let count = 0; count < mostConnections; count++) {
        clients.push(await SocketClient.connect(bed.node.url, token));
      }
      const headers = { authorization: `Bearer ${token}` };
      await assert.rejects(async () => {
        const late = await SocketClient.open(bed.node.url, { headers });
        late.init(token);
        const frame = await late.next();
        await late.close();
        assert.equal(frame.type, 'connection_ack');
      });
      await Promise.all(clients.map((client) => client.close()));
      await eventually(async () => {
        try {
          await (await SocketClient.connect(bed.node.url, token)).close();
          return true;
        } catch {
          return false;
        }
      }, 'there is room again');
    });

    test('passwords that are guessed at both count together', async () => {
      const connections = await Promise.all(Array.from({ length: 12 }, () => bed.connect()));
      const request = post('/login', { username: 'nobody', password: 'not the right one' });
      const statuses: (number | undefined)[] = [];
      await Promise.all(
        connections.map(async (connection) => {
          for (let count = 0; count < 5; count++) statuses.push((await connection.exchange(request))?.status);
        }),
      );
      const wrong = statuses.filter((status) => status === 401).length;
      const slowed = statuses.filter((status) => status === 429).length;
      assert.equal(wrong + slowed, statuses.length, statuses.join(' '));
      // One more after the first pause, on a machine that was busy for a second in between.
      assert.ok(wrong === mostFailures || wrong === mostFailures + 1, `${wrong} were looked at`);
      for (const connection of connections) connection.close();
    });

    test('a worker that is killed is replaced, the other goes on, and nothing acknowledged is lost', async () => {
      const { body } = await ask(one, create, token, { name: 'kept' });
      assert.match(body, /"id"/);
      const [first] = bed.processes;
      process.kill(first!, 'SIGKILL');
      assert.equal(await one.read(), undefined);
      assert.match((await ask(other, '{folder(path:"/kept"){name}}', token)).body, /"name":"kept"/);
      await bed.node.waitForOutput('a worker serves again');
      assert.ok(!isAlive(first!));
      const [again] = await bed.connectToEach(token);
      assert.match((await ask(again!, '{folder(path:"/kept"){name}}', token)).body, /"name":"kept"/);
    });
  });
}
