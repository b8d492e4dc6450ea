/** The traces of requests, statements and subscriptions, as a collector receives them. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { findFreePort } from '../support/free-port.ts';
import { administrator, Testbed } from '../support/testbed.ts';
import { drawSpans, TraceCollector, type SentSpan } from './trace-collector.ts';

const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const traceparent = (flags: '00' | '01') => `00-${parent.traceId}-${parent.spanId}-${flags}`;
const createFolder = `mutation Plant($name: String!) { createFolder(input: { name: $name }) { folder { id } } }`;
const kinds = { internal: 1, server: 2, client: 3 };

// These tests mostly wait, so they run concurrently.
const concurrentOptions = { concurrency: true };

for (const kind of databaseKinds) {
  describe(`traces on ${kind.name}`, concurrentOptions, () => {
    let collector: TraceCollector;
    let testbed: Testbed;
    let authToken: string;

    before(async () => {
      collector = await TraceCollector.start();
      testbed = await Testbed.start(kind, {
        settings: { TRACES_URL: collector.url, TRACES_HEADERS: 'x-tenant=trees%20here' },
      });
      ({ authToken } = await testbed.logIn());
    });
    after(async () => {
      await testbed.stop();
      await collector.stop();
    });

    const postQuery = (query: string, headers: Record<string, string> = {}, variables = {}) =>
      testbed.send('POST', '/graphql', {
        body: JSON.stringify({ query, variables }),
        headers: { 'content-type': 'application/json', authorization: `Bearer ${authToken}`, ...headers },
      });
    /** Sends a query under its own trace id and returns its spans. */
    const traceQuery = async (traceId: string, query: string, variables = {}) => {
      await postQuery(query, { traceparent: `00-${traceId}-${parent.spanId}-01` }, variables);
      const readSpans = () => collector.spans.filter((span) => span.traceId === traceId);
      await eventually(() => readSpans().some(({ kind }) => kind === kinds.server), 'the trace');
      return readSpans();
    };

    test('contain a login with its statements and its transaction', async () => {
      assert.deepEqual(drawSpans(await collector.trace('POST /login')), [
        'POST /login',
        '  select login_failures',
        '  select users',
        '  transaction',
        '    update users',
        '    insert sessions',
        '    insert sign_ins',
      ]);
    });

    test('contain one span per field that reads data, even if many objects have the field', async () => {
      for (const name of ['Ash', 'Birch']) await postQuery(createFolder, {}, { name });
      const query = `query Look { folder { name inside: folders { edges { node { name position } } } } }`;
      const spans = await traceQuery('a'.repeat(32), query);
      assert.deepEqual(drawSpans(spans), [
        'POST /graphql',
        '  query',
        '    select journal_counter',
        '    Query.folder',
        '      select folders',
        '    FolderConnection.edges',
        '      select folders',
        '    Folder.position',
        '      select folders',
        '      select folders',
      ]);
      const operation = spans.find(({ name }) => name === 'query')!;
      assert.equal(operation.attributes['graphql.operation.type'], 'query');
      assert.equal(operation.attributes['graphql.operation.name'], 'Look');
      const positionSpan = spans.filter(({ name }) => name === 'select folders').at(-1)!;
      assert.ok(Number(positionSpan.attributes['db.response.returned_rows']) >= 2);
    });

    test('contain fewer spans for a repeated query, because it has a query plan', async () => {
      const query = `{ folder { name folders(first: 1) { items { name } } } }`;
      await postQuery(createFolder, {}, { name: 'Acorn' });
      await postQuery(query);
      // PostgreSQL reads the folder and the page in one statement.
      const reads =
        kind === sqlite
          ? ['    select journal_counter', '    FolderConnection.items', '      select folders']
          : ['    select folders'];
      assert.deepEqual(drawSpans(await traceQuery('b'.repeat(32), query)), [
        'POST /graphql',
        '  query',
        ...reads,
      ]);
    });

    test('contain a mutation with its transaction and the text of its statements', async () => {
      const spans = await traceQuery('c'.repeat(32), createFolder, { name: 'Cedar' });
      // On PostgreSQL only the first change of a shared transaction reads the journal head.
      const lines = drawSpans(spans).filter((line) => line.trim() !== 'select journal_counter');
      const start = lines.indexOf('    Mutation.createFolder');
      assert.deepEqual(lines.slice(start, start + 4), [
        '    Mutation.createFolder',
        '      transaction',
        '        select folders',
        '        insert folders',
      ]);
      const {
        attributes: facts,
        kind: spanKind,
        status,
      } = spans.find(({ name }) => name === 'insert folders')!;
      assert.equal(facts['db.system.name'], kind === sqlite ? 'sqlite' : 'postgresql');
      assert.match(String(facts['db.query.text']), /^insert into folders \(id, .* values \((\?|\$1), /);
      assert.equal(spanKind, kinds.client);
      assert.equal(status.code, 0);
    });

    test('separate the statements of concurrent requests', async () => {
      const ids = Array.from({ length: 12 }, (_, index) => `d${index.toString(16)}`.padEnd(32, '0'));
      const all = await Promise.all(
        ids.map((id, index) => traceQuery(id, createFolder, { name: `Elm ${index}` })),
      );
      for (const spans of all) {
        assert.equal(spans.filter(({ name }) => name === 'insert folders').length, 1);
        assert.equal(spans.filter(({ name }) => name === 'insert journal').length, 1);
      }
    });

    test('contain an operation on a socket, and a separate trace of each subscription response', async () => {
      const client = createClient({
        url: `${testbed.url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { authorization: `Bearer ${authToken}` },
      });
      const changes = client.iterate({ query: 'subscription { folderChanges { cursor } }' });
      const first = changes.next();
      const socketSpans = await collector.trace('socket operation');
      assert.deepEqual(drawSpans(socketSpans).slice(0, 2), ['socket operation', '  subscription']);
      await postQuery(createFolder, {}, { name: 'Fir' });
      await first;
      const isAnswer = ({ name, traceId, links }: SentSpan) =>
        name === 'subscription answer' &&
        traceId !== socketSpans[0]!.traceId &&
        links.some((link) => link.traceId === socketSpans[0]!.traceId);
      await eventually(() => collector.spans.some(isAnswer), 'a separate trace that links to the first');
      await client.dispose();
    });

    test('contain the opening of an event stream', async () => {
      const stop = new AbortController();
      const response = await fetch(`${testbed.url}/graphql`, {
        method: 'POST',
        body: JSON.stringify({ query: 'subscription { folderChanges { cursor } }' }),
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          authorization: `Bearer ${authToken}`,
          traceparent: `00-${'e'.repeat(32)}-${parent.spanId}-01`,
        },
        signal: stop.signal,
      });
      const readSpans = () => collector.spans.filter(({ traceId }) => traceId === 'e'.repeat(32));
      await eventually(() => readSpans().some(({ name }) => name === 'POST /graphql'), 'the trace');
      assert.deepEqual(drawSpans(readSpans()).slice(0, 2), ['POST /graphql', '  subscription']);
      assert.equal(response.status, 200);
      stop.abort();
    });

    test('contain no data that a client sent', async () => {
      const secrets = ['Zedernholz', 'aliasOfMine', 'agent-of-mine', 'state=mine'];
      const query = `mutation { aliasOfMine: createFolder(input: { name: "Zedernholz" }) { folder { name } } }`;
      await postQuery(query, { 'user-agent': 'agent-of-mine' });
      const readQuery = `{ aliasOfMine: folder { name folders { items { name } } } }`;
      for (let times = 0; times < 3; times++) await postQuery(readQuery);
      await postQuery(readQuery.replace('folder {', 'folder(path: "/Zedernholz") {'));
      const { length } = collector.spans;
      const lastTraceId = 'f'.repeat(32);
      await testbed.send('GET', '/nowhere/Zedernholz?token=state=mine', {
        headers: { traceparent: `00-${lastTraceId}-${parent.spanId}-01` },
      });
      await eventually(
        () => collector.spans.some(({ traceId }) => traceId === lastTraceId),
        'the trace of the last request',
      );
      assert.ok(collector.spans.length > length);
      for (const secret of [...secrets, authToken, authToken.split('.')[2]!, administrator.password]) {
        assert.ok(!collector.text.includes(secret), secret);
      }
      const lastSpan = collector.spans.find(({ traceId }) => traceId === lastTraceId)!;
      assert.equal(lastSpan.name, 'GET');
      assert.equal(lastSpan.attributes['http.response.status_code'], 404);
    });

    test('name their process, and are sent with the configured headers', async () => {
      const [{ resource } = {} as SentSpan] = await collector.trace('POST /login');
      assert.equal(resource['service.name'], 'espalier');
      assert.equal(resource['service.version'], '0.0.0-test');
      assert.match(String(resource['service.instance.id']), /^[0-9a-f-]{36}$/);
      assert.equal(collector.headers[0]!['x-tenant'], 'trees here');
    });
  });
}

describe('sampling of traces', concurrentOptions, () => {
  let collector: TraceCollector;
  let testbed: Testbed;
  let authToken: string;

  before(async () => {
    collector = await TraceCollector.start();
    testbed = await Testbed.start(sqlite, { settings: { TRACES_URL: collector.url, TRACES_SHARE: '0' } });
    ({ authToken } = await testbed.logIn());
  });
  after(async () => {
    await testbed.stop();
    await collector.stop();
  });

  const verify = (headers: Record<string, string>) =>
    testbed.send('POST', '/login/verify', {
      body: JSON.stringify({ authToken }),
      headers: { 'content-type': 'application/json', ...headers },
    });

  test('records only requests that the client traces if the share is zero', async () => {
    await verify({});
    await verify({ traceparent: traceparent('00') });
    await verify({ traceparent: traceparent('01'), tracestate: 'vendor=7' });
    const readLoginSpans = () => collector.spans.filter(({ name }) => name.startsWith('POST /login'));
    await eventually(() => readLoginSpans().length > 0, 'a trace');
    const [span, ...others] = readLoginSpans();
    assert.deepEqual(others, []);
    assert.equal(span!.traceId, parent.traceId);
    assert.equal(span!.parentSpanId, parent.spanId);
    assert.equal(span!.traceState, 'vendor=7');
    assert.equal(span!.name, 'POST /login/verify');
    assert.equal(span!.kind, kinds.server);
    assert.equal(span!.attributes['http.route'], '/login/verify');
    assert.equal(span!.attributes['http.response.status_code'], 204);
  });

  test('excludes probes', async () => {
    await testbed.send('GET', '/readyz', { headers: { traceparent: traceparent('01') } });
    await testbed.send('GET', '/.well-known/jwks.json', { headers: { traceparent: traceparent('01') } });
    await eventually(
      () => collector.spans.some(({ name }) => name.endsWith('jwks.json')),
      'the trace of the other request',
    );
    assert.ok(!collector.spans.some(({ name }) => name.includes('readyz')));
  });
});

describe('the trace collector', concurrentOptions, () => {
  const readWarnings = (testbed: Testbed) =>
    testbed.logLines
      .map((line) => JSON.parse(line) as { level: number; msg: string; spans?: number })
      .filter(({ msg }) => /\btraces /i.test(msg));

  test('receives pending spans when the server stops, and the log contains the trace id', async () => {
    const collector = await TraceCollector.start();
    const testbed = await Testbed.start(sqlite, { settings: { TRACES_URL: collector.url } });
    await testbed.logIn();
    await collector.trace('POST /login');
    // The exporter is connected by now, so a second is enough for the rest even on a busy machine.
    await testbed.send('GET', '/openapi.json');
    await testbed.stop();
    await collector.stop();
    const root = collector.spans.find(({ name }) => name === 'GET /openapi.json')!;
    assert.ok(testbed.logLines.some((line) => line.includes(`"traceId":"${root.traceId}"`)));
    assert.deepEqual(readWarnings(testbed), []);
  });

  test('causes one warning when it is unreachable, and one log line when it is reachable again', async () => {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}/v1/traces`;
    const testbed = await Testbed.start(sqlite, { settings: { TRACES_URL: url } });
    await testbed.logIn();
    await eventually(() => readWarnings(testbed).length > 0, 'a warning');
    const collector = await TraceCollector.start(port);
    assert.equal((await testbed.logIn()).expires_in > 0, true);
    await eventually(() => readWarnings(testbed).length > 1, 'the log line about the recovery');
    assert.deepEqual(
      readWarnings(testbed).map(({ level, msg }) => [level, msg]),
      [
        [40, 'Traces cannot be sent and are dropped. Check the collector and ESPALIER_TRACES_URL.'],
        [30, 'traces are sent again'],
      ],
    );
    await testbed.stop();
    await collector.stop();
  });
});
