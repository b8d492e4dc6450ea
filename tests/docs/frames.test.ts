/**
 * Runs the conversations of the page about socket frames against a real server, and checks that the page has every
 * frame.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { conversations } from '../../docs/generate/socket-conversations.ts';
import { protocols } from '../../server/src/http/websocket/protocols.ts';
import { sqlite } from '../support/databases.ts';
import { SocketClient } from '../live/socket-client.ts';
import { PeopleTestbed } from '../people/people-testbed.ts';

describe('a real server', () => {
  let testbed: PeopleTestbed;
  before(async () => (testbed = await PeopleTestbed.start(sqlite)));
  after(() => testbed.stop());

  for (const [index, { protocol, frames }] of conversations.entries()) {
    test(`follows conversation ${index + 1} of the page about socket frames, in ${protocol.name}`, async () => {
      let { authToken } = await testbed.server.logIn();
      testbed.authToken = authToken;
      const { cursor } = await testbed.query<{ cursor: string }>('{cursor}');
      const client = await SocketClient.open(testbed.server.url, { protocols: [protocol.name] });
      for (const { from, frame, once } of frames) {
        if (once === 'a folder is created') await testbed.mutate('createFolder', { name: 'Garden' });
        if (once === 'the token has a minute left') {
          testbed.server.clock.advanceSeconds(540);
          ({ authToken } = await testbed.server.logIn());
        }
        if (from === 'client') client.send(fillIn(frame, { authToken, cursor }));
        else assertLike(await client.next(), frame);
      }
      const { type } = frames.at(-1)!.frame;
      if (type === 'connection_terminate') assert.equal((await client.closed()).code, 1000);
      else if (type === 'connection_error') assert.equal((await client.closed()).code, 4403);
      else await client.close();
      const { folder } = await testbed.query<{ folder: { id: string } | null }>(
        '{folder(path:"/Garden"){id}}',
      );
      if (folder) await testbed.mutate('deleteFolder', { id: folder.id });
    });
  }
});

test('the page about socket frames contains every type of frame', () => {
  for (const dialect of protocols) {
    const frames = conversations.filter((talk) => talk.protocol === dialect).flatMap((talk) => talk.frames);
    const typesOf = (from: string) =>
      [...new Set(frames.filter((frame) => frame.from === from).map(({ frame }) => frame.type))].sort();
    assert.deepEqual(typesOf('client'), Object.keys(dialect.kinds).sort());
    const expectedTypes = ['connection_ack', dialect.resultType, 'error', 'complete'];
    if (dialect.hasPing) expectedTypes.push('ping', 'pong');
    if (dialect.connectionError) expectedTypes.push(dialect.connectionError);
    assert.deepEqual(typesOf('server'), expectedTypes.sort());
  }
});

function fillIn(frame: unknown, { authToken, cursor }: { authToken: string; cursor: string }): unknown {
  const text = JSON.stringify(frame)
    .replace('Bearer …', `Bearer ${authToken}`)
    .replace('"…"', JSON.stringify(cursor));
  return JSON.parse(text);
}

/** Replaces values that vary with `…` before it compares the frames. */
function assertLike(actual: unknown, example: unknown): void {
  const actualText = JSON.stringify(actual, (key, value: unknown) =>
    /^(expiresAt|requestId)$/.test(key) ? '…' : value,
  );
  assert.deepEqual(JSON.parse(actualText), example);
}
