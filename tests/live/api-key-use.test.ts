/** An open connection counts as a use of its API key, so that lists of keys show which keys programs still need. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GraphStream } from '../../server/src/graph/graph.ts';
import type { Viewer } from '../../server/src/sessions/auth-token.ts';
import type { Sessions } from '../../server/src/sessions/sessions.ts';
import { eventually } from '../support/eventually.ts';
import { EventClient } from './event-client.ts';
import { SocketClient } from './socket-client.ts';
import { StubApp } from './stub-app.ts';

/** A subscription without events. */
const silentStream: GraphStream = {
  reached: 0,
  next: () => new Promise(() => undefined),
  return: () => Promise.resolve({ done: true, value: undefined }),
  cursorAfter: () => undefined,
  endAfter: () => undefined,
};

test('an open socket and an open event stream record the use of their API key until they close', async () => {
  const uses: string[] = [];
  const endedKeys: string[] = [];
  const sessions: Partial<Sessions> = {
    authenticateRequest: (apiKeyId): Viewer => ({
      ...{ userId: 'ann', sessionId: undefined, apiKeyId, tokenExpiresAt: Infinity },
    }),
    isEnded: ({ apiKeyId = '' }) => endedKeys.includes(apiKeyId),
    isViewEnded: () => false,
    recordApiKeyUse: ({ apiKeyId }, address) => void uses.push(`${apiKeyId} ${address}`),
  };
  const app = await StubApp.start({ sessions: sessions as Sessions });
  app.open = () => silentStream;
  const socket = await SocketClient.connect(app.url, 'socket-key');
  const stream = await EventClient.open(
    app.url,
    { query: 'subscription{x}' },
    { authorization: 'Bearer stream-key' },
  );
  const [ofSocket, ofStream] = ['socket-key 127.0.0.1', 'stream-key 127.0.0.1'];
  const countOf = (use: string) => uses.filter((each) => each === use).length;
  await eventually(() => countOf(ofSocket) >= 2 && countOf(ofStream) >= 2, 'two uses of each key');
  assert.deepEqual([...new Set(uses)].toSorted(), [ofSocket, ofStream]);
  endedKeys.push('socket-key', 'stream-key');
  await Promise.all([socket.closed(), stream.readRest()]);
  uses.length = 0;
  const other = await SocketClient.connect(app.url, 'other-key');
  await eventually(() => uses.length >= 3, 'three uses of the other key');
  assert.deepEqual([...new Set(uses)], ['other-key 127.0.0.1']);
  await other.close();
  await app.stop();
});
