import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createClient, memoryStorage, type ImportResult } from '@espalier/client';
import { StoppedError } from '../../api/connection.ts';
import { ImportUpload } from './import-upload.ts';

const ignore = () => undefined;
const input = { parentId: 'p', list: [{ path: 'x'.repeat(500_000) }] };

interface Sent {
  readonly key: string | undefined;
  readonly body: string;
}

type Answer = (request: IncomingMessage, response: ServerResponse, sent: Sent[]) => Promise<void>;

async function withUpload(
  answer: Answer,
  work: (send: (signal: AbortSignal) => Promise<ImportResult>) => Promise<void>,
): Promise<Sent[]> {
  const sent: Sent[] = [];
  const server = createServer((request, response) => void answer(request, response, sent));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upload = new ImportUpload({ show: ignore, wait: ignore, end: ignore });
  const storage = memoryStorage();
  await storage.write({ authToken: 'a', refreshToken: 'r', expiresAt: Infinity, lifetimeSeconds: 600 });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClient({ url, storage, fetch: upload.fetch, retrySeconds: 0 });
  try {
    await work((signal) => upload.send(client, input, signal));
  } finally {
    client.close();
    server.closeAllConnections();
    server.close();
  }
  return sent;
}

const receive = async (request: IncomingMessage, sent: Sent[]) => {
  const body = await text(request);
  sent.push({ key: request.headers['idempotency-key'] as string | undefined, body });
};
const reply = (response: ServerResponse, value: object) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
const stopsWith = (message: RegExp) => (error: unknown) =>
  error instanceof StoppedError && message.test(error.message);

test('sends an import in one request, and returns the counts of the response', async () => {
  const result = { createdCount: 7, updatedCount: 0, keptCount: 0, isDryRun: false };
  const [only] = await withUpload(
    async (request, response, sent) => {
      await receive(request, sent);
      reply(response, { data: { importFolders: result } });
    },
    async (send) => assert.deepEqual(await send(new AbortController().signal), result),
  );
  const { variables } = JSON.parse(only!.body) as { variables: unknown };
  assert.deepEqual(variables, { input });
});

for (const [what, answer, message] of [
  ['reports that nothing was imported', { data: { importFolders: { folder: { id: 'p' } } } }, /^Nothing was/],
  [
    'reports that the import was completed before',
    { errors: [{ message: 'used', extensions: { code: 'BAD_INPUT' } }], data: { importFolders: null } },
    /^The import was completed before/,
  ],
  [
    'reports that the outcome is unknown if the response is invalid',
    { data: null },
    /^The stop request failed/,
  ],
] as const) {
  test(`uses the idempotency key of a stopped import, and ${what}`, async () => {
    const stopping = new AbortController();
    const [first, second, ...more] = await withUpload(
      async (request, response, sent) => {
        await receive(request, sent);
        // The first request gets no response, as during a long import.
        if (sent.length === 1) stopping.abort();
        else reply(response, answer);
      },
      (send) => assert.rejects(send(stopping.signal), stopsWith(message)),
    );
    assert.ok(first!.key);
    assert.equal(second!.key, first!.key);
    assert.match(second!.body, /importFolders: updateFolder/);
    assert.deepEqual(more, []);
  });
}

test('sends nothing if the import is stopped before it starts', async () => {
  const sent = await withUpload(
    async (request, _response, all) => receive(request, all),
    (send) => assert.rejects(send(AbortSignal.abort())),
  );
  assert.deepEqual(sent, []);
});
