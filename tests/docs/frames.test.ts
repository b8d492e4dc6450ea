/** The page of socket frames: its conversations are held with a real server, and there is no frame that it leaves out. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { conversations } from '../../docs/socket-conversations.ts';
import { protocols } from '../../server/src/http/websocket/protocols.ts';
import { sqlite } from '../support/databases.ts';
import { SocketClient } from '../live/socket-client.ts';
import { PeopleTestbed } from '../people/people-testbed.ts';

describe('the conversations of the page of socket frames', () => {
  let bed: PeopleTestbed;
  before(async () => (bed = await PeopleTestbed.start(sqlite)));
  after(() => bed.stop());

  for (const [index, { dialect, frames }] of conversations.entries()) {
    test(`conversation ${index + 1}, in ${dialect.name}, is what a server says`, async () => {
      let { authToken } = await bed.testbed.logIn();
      bed.authToken = authToken;
      const { cursor } = await bed.query<{ cursor: string }>('{cursor}');
      const client = await SocketClient.open(bed.testbed.url, { protocols: [dialect.name] });
      for (const { from, frame, once } of frames) {
        if (once === 'a folder is made') await bed.mutate('createFolder', { name: 'Garden' });
        if (once === 'the token has a minute left') {
          bed.testbed.clock.advanceSeconds(540);
          ({ authToken } = await bed.testbed.logIn());
        }
        if (from === 'client') client.send(filledIn(frame, { authToken, cursor }));
        else assertLike(await client.next(), frame);
      }
      const { type } = frames.at(-1)!.frame;
      if (type === 'connection_terminate') assert.equal((await client.closed()).code, 1000);
      else if (type === 'connection_error') assert.equal((await client.closed()).code, 4403);
      else await client.close();
      const { folder } = await bed.query<{ folder: { id: string } | null }>('{folder(path:"/Garden"){id}}');
      if (folder) await bed.mutate('deleteFolder', { id: folder.id });
    });
  }
});

test('every frame that a client may send, and every one that the server writes, is on the page', () => {
  for (const dialect of protocols) {
    const frames = conversations.filter((talk) => talk.dialect === dialect).flatMap((talk) => talk.frames);
    const typesOf = (from: string) =>
      [...new Set(frames.filter((frame) => frame.from === from).map(({ frame }) => frame.type))].sort();
    assert.deepEqual(typesOf('client'), Object.keys(dialect.kinds).sort());
    const written = ['connection_ack', dialect.resultType, 'error', 'complete'];
    if (dialect.hasPing) written.push('ping', 'pong');
    if (dialect.connectionError) written.push(dialect.connectionError);
    assert.deepEqual(typesOf('server'), written.sort());
  }
});

function filledIn(frame: unknown, { authToken, cursor }: { authToken: string; cursor: string }): unknown {
  const text = JSON.stringify(frame)
    .replace('Bearer …', `Bearer ${authToken}`)
    .replace('"…"', JSON.stringify(cursor));
  return JSON.parse(text);
}

/** Where the example has `…`, anything may be. */
function assertLike(actual: unknown, example: unknown): void {
  const blanked = JSON.stringify(actual, (key, value: unknown) => (key === 'expiresAt' ? '…' : value));
  assert.deepEqual(JSON.parse(blanked), example);
}
