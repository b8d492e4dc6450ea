/** Many refreshes of one token pair at the same instant, spread over several nodes: exactly one may win. */

import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import { RawConnection, type RawAnswer } from '../raw-connection.ts';
import { administrator, type NodeProcess } from './node-process.ts';

export const racers = 50;

export interface RaceSummary {
  /** How often each node had the winner. */
  readonly wins: readonly number[];
}

/** Fails at the first round that has not exactly one winner. */
export async function raceRefreshes(
  nodes: readonly NodeProcess[],
  rounds: number,
  onRound: (round: number) => void = () => undefined,
): Promise<RaceSummary> {
  const connections = await Promise.all(
    Array.from({ length: racers }, (_, place) => RawConnection.open(nodes[place % nodes.length]!.url)),
  );
  const wins = nodes.map(() => 0);
  try {
    let pair = await logIn(connections[0]!);
    for (let round = 0; round < rounds; round++) {
      const request = refreshRequest(pair);
      const answers = await Promise.all(connections.map((connection) => connection.exchange(request)));
      const statuses = answers.map((answer) => answer?.status);
      const winner = statuses.indexOf(200);
      const losers = statuses.filter((status) => status === 401).length;
      assert.ok(winner >= 0 && losers === racers - 1, `round ${round}: ${statuses.join(' ')}`);
      wins[winner % nodes.length]!++;
      const won = pairIn(answers[winner]);
      // A refresh token can be tried once: with another node each round.
      const chosen = connections[round % nodes.length]!;
      const refreshed = await chosen.exchange(refreshRequest(won));
      assert.equal(refreshed?.status, 200, `round ${round}: the winner's pair is refused`);
      assert.equal((await chosen.exchange(request))?.status, 401, `round ${round}: a spent pair refreshes`);
      pair = pairIn(refreshed);
      for (const { authToken } of [won, pair]) {
        const verify = post('/login/verify', JSON.stringify({ authToken }));
        for (const connection of connections.slice(0, nodes.length)) {
          assert.equal((await connection.exchange(verify))?.status, 204, `round ${round}`);
        }
      }
      onRound(round);
    }
    return { wins };
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function logIn(connection: RawConnection): Promise<LoginResponse> {
  return pairIn(await connection.exchange(post('/login', JSON.stringify(administrator))));
}

function pairIn(answer: RawAnswer | undefined): LoginResponse {
  assert.equal(answer?.status, 200);
  return JSON.parse(answer.body) as LoginResponse;
}

function refreshRequest({ authToken, refreshToken }: LoginResponse): string {
  return post('/login/refresh', JSON.stringify({ refreshToken }), `Authorization: Bearer ${authToken}`);
}

function post(path: string, body: string, ...headers: string[]): string {
  return [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    ...headers,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
