/** Exactly one of several concurrent refreshes with the same token succeeds. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds, scaleRounds } from '../support/databases.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { selectLength } from '../support/run-length.ts';
import { Testbed } from '../support/testbed.ts';

const racers = 50;

for (const kind of databaseKinds) {
  // `npm run lab -- refresh-race --rounds 1000` runs longer.
  const rounds = scaleRounds(kind, selectLength({ short: 60, long: 300 }));
  describe(`${racers} concurrent refreshes with the same token on ${kind.name}`, () => {
    let testbed: Testbed;
    let connections: RawConnection[];
    before(async () => {
      testbed = await Testbed.start(kind);
      connections = await Promise.all(Array.from({ length: racers }, () => RawConnection.open(testbed.url)));
    });
    after(async () => {
      for (const connection of connections) connection.close();
      await testbed.stop();
    });

    const race = async (tokens: LoginResponse) => {
      const request = refreshRequest(tokens);
      const answers = await Promise.all(connections.map((connection) => connection.exchange(request)));
      return {
        winners: answers.filter((answer) => answer?.status === 200),
        losers: answers.filter((answer) => answer?.status === 401),
      };
    };

    test(`succeed exactly once in each of ${rounds} rounds`, async () => {
      let tokens = await testbed.logIn();
      for (let round = 0; round < rounds; round++) {
        const { winners, losers } = await race(tokens);
        assert.equal(winners.length, 1, `round ${round}`);
        assert.equal(losers.length, racers - 1, `round ${round}`);
        tokens = JSON.parse(winners[0]!.body) as LoginResponse;
      }
    });

    test('leave no valid refresh token if a logout runs at the same time', async () => {
      for (let round = 0; round < selectLength({ short: 20, long: 50 }); round++) {
        const tokens = await testbed.logIn();
        const [{ winners }, logout] = await Promise.all([
          race(tokens),
          testbed.post('/logout', {}, tokens.authToken),
        ]);
        assert.equal(logout.status, 204);
        for (const winner of winners) {
          assert.equal((await testbed.refresh(JSON.parse(winner!.body) as LoginResponse)).status, 401);
        }
      }
    });
  });
}

function refreshRequest({ authToken, refreshToken }: LoginResponse): string {
  const body = JSON.stringify({ refreshToken });
  return [
    'POST /login/refresh HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${authToken}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}
