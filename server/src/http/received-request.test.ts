import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { ReceivedRequest } from './received-request.ts';

const post = (length: number) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

describe('a request', () => {
  let server: Server<typeof ReceivedRequest>;
  let client: Socket;
  before(async () => {
    server = createServer({ IncomingMessage: ReceivedRequest });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.setEncoding('latin1');
  });
  after(() => {
    client.destroy();
    server.close().closeAllConnections();
  });

  const next = async (sent: string) => {
    const coming = once(server, 'request') as Promise<[ReceivedRequest, ServerResponse]>;
    client.write(sent, 'latin1');
    const [request, response] = await coming;
    const answer = async (text: string) => {
      response.end(text);
      const [given] = (await once(client, 'data')) as [string];
      return given.endsWith(`\r\n\r\n${text}`);
    };
    return { request, answer };
  };
  /** In the turn of the event. */
  const taken = (sent: string) => {
    const chunks: string[] = [];
    const ended = new Promise<void>((resolve) =>
      server.prependOnceListener('request', (request) =>
        request.takeBody({
          takeChunk: (chunk) => void chunks.push(chunk.toString()),
          takeEnd: () => {
            chunks.push('end');
            resolve();
          },
          takeError: ({ message }) => void chunks.push(message),
        }),
      ),
    );
    return next(sent).then((found) => ({ ...found, chunks, ended }));
  };

  test('is read as a stream by who does not take it', async () => {
    const { request, answer } = await next(`${post(5)}apple`);
    assert.equal(request.isRead, false);
    assert.equal((await request.toArray()).join(''), 'apple');
    assert.equal(request.isRead, true);
    assert.ok(await answer('a'));
    assert.equal(request.bytesAtEnd, request.socket.bytesRead);
  });

  test('is taken as it comes, one after the other over one connection', async () => {
    for (const answered of ['b', 'c']) {
      const { request, answer, chunks, ended } = await taken(`${post(10)}apple`);
      assert.deepEqual([request.isRead, request.bytesAtEnd], [false, undefined]);
      client.write('cider');
      await ended;
      assert.deepEqual(chunks, ['apple', 'cider', 'end']);
      assert.deepEqual([request.isRead, request.bytesAtEnd], [true, request.socket.bytesRead]);
      assert.ok(await answer(answered));
    }
  });

  test('that was answered before it came to its end is taken to its end all the same', async () => {
    const { answer, chunks, ended } = await taken(`${post(10)}apple`);
    assert.ok(await answer('early'));
    client.write('cider');
    await ended;
    assert.deepEqual(chunks, ['apple', 'cider', 'end']);
  });

  test('that breaks off has no end, and says why', async () => {
    const { request, chunks } = await taken(`${post(10)}apple`);
    const failed = once(request, 'error');
    client.destroy();
    const [error] = (await failed) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ECONNRESET');
    assert.deepEqual(chunks, ['apple', error.message]);
    assert.equal(request.isRead, false);
  });
});
