import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { findFreePort } from '../support/free-port.ts';
import { administrator, Testbed } from '../support/testbed.ts';
import { drawn, TraceCollector, type SentSpan } from './trace-collector.ts';

const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const traceparent = (flags: '00' | '01') => `00-${parent.traceId}-${parent.spanId}-${flags}`;
const createFolder = `mutation Plant($name: String!) { createFolder(input: { name: $name }) { folder { id } } }`;
const kinds = { internal: 1, server: 2, client: 3 };

// They wait most of the time, and do so together.
const together = { concurrency: true };

for (const kind of databaseKinds) {
  describe(`traces on ${kind.name}`, together, () => {
    let collector: TraceCollector;
    let bed: Testbed;
    let authToken: string;

    before(async () => {
      collector = await TraceCollector.start();
      bed = await Testbed.start(kind, {
        settings: { TRACES_URL: collector.url, TRACES_HEADERS: 'x-tenant=trees%20here' },
      });
      ({ authToken } = await bed.logIn());
    });
    after(async () => {
      await bed.stop();
      await collector.stop();
    });

    const ask = (query: string, headers: Record<string, string> = {}, variables = {}) =>
      bed.send('POST', '/graphql', {
        body: JSON.stringify({ query, variables }),
        headers: { 'content-type': 'application/json', authorization: `Bearer ${authToken}`, ...headers },
      });
    /** Under a trace that nobody else has. */
    const traced = async (traceId: string, query: string, variables = {}) => {
      await ask(query, { traceparent: `00-${traceId}-${parent.spanId}-01` }, variables);
      const all = () => collector.spans.filter((span) => span.traceId === traceId);
      await eventually(() => all().some(({ kind }) => kind === kinds.server), 'the trace');
      return all();
    };

    test(`a login is traced with its statements and its transaction`, async () => {
      assert.deepEqual(drawn(await collector.trace('POST /login')), [
        'POST /login',
        '  select login_failures',
        '  select users',
        '  transaction',
        '    update users',
        '    insert sessions',
      ]);
    });

    test(`a query is traced by the fields that read, each with all its objects`, async () => {
      for (const name of ['Ash', 'Birch']) await ask(createFolder, {}, { name });
      const query = `query Look { folder { name inside: folders { edges { node { name position } } } } }`;
      const spans = await traced('a'.repeat(32), query);
      assert.deepEqual(drawn(spans), [
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
      assert.equal(operation.facts['graphql.operation.type'], 'query');
      assert.equal(operation.facts['graphql.operation.name'], 'Look');
      const positions = spans.filter(({ name }) => name === 'select folders').at(-1)!;
      assert.ok(Number(positions.facts['db.response.returned_rows']) >= 2);
    });

    test(`a query that comes back is traced by its plan`, async () => {
      const query = `{ folder { name folders(first: 1) { items { name } } } }`;
      await ask(createFolder, {}, { name: 'Acorn' });
      await ask(query);
      // PostgreSQL reads the folder and the page in one statement.
      const reads =
        kind === sqlite
          ? ['    select journal_counter', '    FolderConnection.items', '      select folders']
          : ['    select folders'];
      assert.deepEqual(drawn(await traced('b'.repeat(32), query)), ['POST /graphql', '  query', ...reads]);
    });

    test(`a mutation is traced with its transaction, and a statement says what it does`, async () => {
      const spans = await traced('c'.repeat(32), createFolder, { name: 'Cedar' });
      // On PostgreSQL, only the first of the changes that share a transaction reads the head of the journal.
      const lines = drawn(spans).filter((line) => line.trim() !== 'select journal_counter');
      const start = lines.indexOf('    Mutation.createFolder');
      assert.deepEqual(lines.slice(start, start + 4), [
        '    Mutation.createFolder',
        '      transaction',
        '        select folders',
        '        insert folders',
      ]);
      const { facts, kind: spanKind, status } = spans.find(({ name }) => name === 'insert folders')!;
      assert.equal(facts['db.system.name'], kind === sqlite ? 'sqlite' : 'postgresql');
      assert.match(String(facts['db.query.text']), /^insert into folders \(id, .* values \((\?|\$1), /);
      assert.equal(spanKind, kinds.client);
      assert.equal(status.code, 0);
    });

    test(`many at once have each their own statements`, async () => {
      const ids = Array.from({ length: 12 }, (_, place) => `d${place.toString(16)}`.padEnd(32, '0'));
      const all = await Promise.all(
        ids.map((id, place) => traced(id, createFolder, { name: `Elm ${place}` })),
      );
      for (const spans of all) {
        assert.equal(spans.filter(({ name }) => name === 'insert folders').length, 1);
        assert.equal(spans.filter(({ name }) => name === 'insert journal').length, 1);
      }
    });

    test(`an operation on a socket is a trace, and each answer to a subscription another`, async () => {
      const client = createClient({
        url: `${bed.url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { authorization: `Bearer ${authToken}` },
      });
      const told = client.iterate({ query: 'subscription { folderChanges { cursor } }' });
      const first = told.next();
      const opened = await collector.trace('socket operation');
      assert.deepEqual(drawn(opened).slice(0, 2), ['socket operation', '  subscription']);
      await ask(createFolder, {}, { name: 'Fir' });
      await first;
      const isAnswer = ({ name, traceId, links }: SentSpan) =>
        name === 'subscription answer' &&
        traceId !== opened[0]!.traceId &&
        links.some((link) => link.traceId === opened[0]!.traceId);
      await eventually(() => collector.spans.some(isAnswer), 'a trace of its own that names the other');
      await client.dispose();
    });

    test(`a stream of events is traced until it is open`, async () => {
      const stop = new AbortController();
      const response = await fetch(`${bed.url}/graphql`, {
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
      const all = () => collector.spans.filter(({ traceId }) => traceId === 'e'.repeat(32));
      await eventually(() => all().some(({ name }) => name === 'POST /graphql'), 'the trace');
      assert.deepEqual(drawn(all()).slice(0, 2), ['POST /graphql', '  subscription']);
      assert.equal(response.status, 200);
      stop.abort();
    });

    test(`nothing that anybody sent is in a trace`, async () => {
      const secrets = ['Zedernholz', 'aliasOfMine', 'agent-of-mine', 'state=mine'];
      const query = `mutation { aliasOfMine: createFolder(input: { name: "Zedernholz" }) { folder { name } } }`;
      await ask(query, { 'user-agent': 'agent-of-mine' });
      const read = `{ aliasOfMine: folder { name folders { items { name } } } }`;
      for (let times = 0; times < 3; times++) await ask(read);
      await ask(read.replace('folder {', 'folder(path: "/Zedernholz") {'));
      const { length } = collector.spans;
      const end = 'f'.repeat(32);
      await bed.send('GET', '/nowhere/Zedernholz?token=state=mine', {
        headers: { traceparent: `00-${end}-${parent.spanId}-01` },
      });
      await eventually(() => collector.spans.some(({ traceId }) => traceId === end), 'the last of them');
      assert.ok(collector.spans.length > length);
      for (const secret of [...secrets, authToken, authToken.split('.')[2]!, administrator.password]) {
        assert.ok(!collector.text.includes(secret), secret);
      }
      const last = collector.spans.find(({ traceId }) => traceId === end)!;
      assert.equal(last.name, 'GET');
      assert.equal(last.facts['http.response.status_code'], 404);
    });

    test(`it says which process it was, and sends the headers that it is told to`, async () => {
      const [{ resource } = {} as SentSpan] = await collector.trace('POST /login');
      assert.equal(resource['service.name'], 'espalier');
      assert.equal(resource['service.version'], '0.0.0-test');
      assert.match(String(resource['service.instance.id']), /^[0-9a-f-]{36}$/);
      assert.equal(collector.headers[0]!['x-tenant'], 'trees here');
    });
  });
}

describe('traces and who asks', together, () => {
  let collector: TraceCollector;
  let bed: Testbed;
  let authToken: string;

  before(async () => {
    collector = await TraceCollector.start();
    bed = await Testbed.start(sqlite, { settings: { TRACES_URL: collector.url, TRACES_SHARE: '0' } });
    ({ authToken } = await bed.logIn());
  });
  after(async () => {
    await bed.stop();
    await collector.stop();
  });

  const verify = (headers: Record<string, string>) =>
    bed.send('POST', '/login/verify', {
      body: JSON.stringify({ authToken }),
      headers: { 'content-type': 'application/json', ...headers },
    });

  test('only a request whose client records it is recorded when the share is nothing', async () => {
    await verify({});
    await verify({ traceparent: traceparent('00') });
    await verify({ traceparent: traceparent('01'), tracestate: 'vendor=7' });
    const ofLogin = () => collector.spans.filter(({ name }) => name.startsWith('POST /login'));
    await eventually(() => ofLogin().length > 0, 'a trace');
    const [span, ...others] = ofLogin();
    assert.deepEqual(others, []);
    assert.equal(span!.traceId, parent.traceId);
    assert.equal(span!.parentSpanId, parent.spanId);
    assert.equal(span!.traceState, 'vendor=7');
    assert.equal(span!.name, 'POST /login/verify');
    assert.equal(span!.kind, kinds.server);
    assert.equal(span!.facts['http.route'], '/login/verify');
    assert.equal(span!.facts['http.response.status_code'], 204);
  });

  test('probes are not traced', async () => {
    await bed.send('GET', '/readyz', { headers: { traceparent: traceparent('01') } });
    await bed.send('GET', '/.well-known/jwks.json', { headers: { traceparent: traceparent('01') } });
    await eventually(() => collector.spans.some(({ name }) => name.endsWith('jwks.json')), 'the other');
    assert.ok(!collector.spans.some(({ name }) => name.includes('readyz')));
  });
});

describe('traces and their collector', together, () => {
  const warnings = (bed: Testbed) =>
    bed.logLines
      .map((line) => JSON.parse(line) as { level: number; msg: string; spans?: number })
      .filter(({ msg }) => /^traces/.test(msg));

  test('what was not sent yet is sent at the end, and the log names the trace', async () => {
    const collector = await TraceCollector.start();
    const bed = await Testbed.start(sqlite, { settings: { TRACES_URL: collector.url } });
    await bed.logIn();
    await collector.trace('POST /login');
    // By now it knows the way: a second is enough for what is left, on a busy machine too.
    await bed.send('GET', '/openapi.json');
    await bed.stop();
    await collector.stop();
    const root = collector.spans.find(({ name }) => name === 'GET /openapi.json')!;
    assert.ok(bed.logLines.some((line) => line.includes(`"traceId":"${root.traceId}"`)));
    assert.deepEqual(warnings(bed), []);
  });

  test('one that is away is told of once, and once when it is back', async () => {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}/v1/traces`;
    const bed = await Testbed.start(sqlite, { settings: { TRACES_URL: url } });
    await bed.logIn();
    await eventually(() => warnings(bed).length > 0, 'a warning');
    const collector = await TraceCollector.start(port);
    assert.equal((await bed.logIn()).expires_in > 0, true);
    await eventually(() => warnings(bed).length > 1, 'that it is over');
    assert.deepEqual(
      warnings(bed).map(({ level, msg }) => [level, msg]),
      [
        [40, 'traces cannot be sent, and are dropped'],
        [30, 'traces are sent again'],
      ],
    );
    await bed.stop();
    await collector.stop();
  });
});
