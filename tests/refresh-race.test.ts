/** However many refreshes of one token arrive at the same instant, exactly one wins. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds, roundsOn } from './databases.ts';
import { RawConnection } from './raw-connection.ts';
import { lengthOf } from './run-length.ts';
import { Testbed } from './testbed.ts';

const racers = 50;

for (const kind of databaseKinds) {
  // `npm run measure:refresh-race -- --rounds 1000` does it for longer.
  const rounds = roundsOn(kind, lengthOf({ short: 60, long: 300 }));
  describe(`racing refreshes on ${kind.name}`, () => {
    let bed: Testbed;
    let connections: RawConnection[];
    before(async () => {
      bed = await Testbed.start(kind);
      connections = await Promise.all(Array.from({ length: racers }, () => RawConnection.open(bed.url)));
    });
    after(async () => {
      for (const connection of connections) connection.close();
      await bed.stop();
    });

    const race = async (pair: LoginResponse) => {
      const request = refreshRequest(pair);
      const answers = await Promise.all(connections.map((connection) => connection.exchange(request)));
      return {
        winners: answers.filter((answer) => answer?.status === 200),
        losers: answers.filter((answer) => answer?.status === 401),
      };
    };

    test(`of ${racers} at the same instant exactly one gets 200, ${rounds} rounds long`, async () => {
      let pair = await bed.logIn();
      for (let round = 0; round < rounds; round++) {
        const { winners, losers } = await race(pair);
        assert.equal(winners.length, 1, `round ${round}`);
        assert.equal(losers.length, racers - 1, `round ${round}`);
        pair = JSON.parse(winners[0]!.body) as LoginResponse;
      }
    });

    test('a logout that races with refreshes leaves no living token behind', async () => {
      for (let round = 0; round < lengthOf({ short: 20, long: 50 }); round++) {
        const pair = await bed.logIn();
        const [{ winners }, logout] = await Promise.all([
          race(pair),
          bed.post('/logout', {}, pair.authToken),
        ]);
        assert.equal(logout.status, 204);
        for (const winner of winners) {
          assert.equal((await bed.refresh(JSON.parse(winner!.body) as LoginResponse)).status, 401);
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
