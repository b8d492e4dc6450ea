/** Many concurrent refreshes of the same tokens over several nodes. Exactly one may succeed. */

import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import { RawConnection, type RawResponse } from '../support/raw-connection.ts';
import { administrator, type NodeProcess } from './node-process.ts';

export const racerCount = 50;

export interface RaceSummary {
  /** The number of wins of each node. */
  readonly wins: readonly number[];
}

/** Throws in the first round that does not have exactly one winner. */
export async function raceRefreshes(
  nodes: readonly NodeProcess[],
  rounds: number,
  onRound: (round: number) => void = () => undefined,
): Promise<RaceSummary> {
  const connections = await Promise.all(
    Array.from({ length: racerCount }, (_, index) => RawConnection.open(nodes[index % nodes.length]!.url)),
  );
  const wins = nodes.map(() => 0);
  try {
    let tokens = await logIn(connections[0]!);
    for (let round = 0; round < rounds; round++) {
      const request = refreshRequest(tokens);
      const answers = await Promise.all(connections.map((connection) => connection.exchange(request)));
      const statuses = answers.map((answer) => answer?.status);
      const winnerIndex = statuses.indexOf(200);
      const loserCount = statuses.filter((status) => status === 401).length;
      assert.ok(winnerIndex >= 0 && loserCount === racerCount - 1, `round ${round}: ${statuses.join(' ')}`);
      wins[winnerIndex % nodes.length]!++;
      const newTokens = readTokens(answers[winnerIndex]);
      // Each round refreshes the new tokens at the next node, and then checks there that the spent tokens are refused.
      const nodeConnection = connections[round % nodes.length]!;
      const refreshResponse = await nodeConnection.exchange(refreshRequest(newTokens));
      assert.equal(refreshResponse?.status, 200, `round ${round}: the winner's tokens were refused`);
      assert.equal(
        (await nodeConnection.exchange(request))?.status,
        401,
        `round ${round}: spent tokens were accepted`,
      );
      tokens = readTokens(refreshResponse);
      for (const { authToken } of [newTokens, tokens]) {
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
  return readTokens(await connection.exchange(post('/login', JSON.stringify(administrator))));
}

function readTokens(answer: RawResponse | undefined): LoginResponse {
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
