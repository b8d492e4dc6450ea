/** `espalier folder watch` prints changes until it is stopped. `espalier query` sends any GraphQL request. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import { CliTestbed } from './cli-testbed.ts';

describe('espalier folder watch', () => {
  let testbed: CliTestbed;
  before(async () => (testbed = await CliTestbed.start(sqlite)));
  after(() => testbed.stop());

  test('prints each change inside the folder, and a start message on standard error, until Ctrl-C', async () => {
    const id = await testbed.tree.create('watched');
    const watch = testbed.start('folder', 'watch', '/watched');
    assert.match(
      await watch.waitForOutput(/\n/, 'errors'),
      /^Watching \/watched at http:\S+\. Press Ctrl-C to stop\.\n$/,
    );
    await testbed.tree.create('elsewhere');
    const inner = await testbed.tree.create('a', id, { title: 'A \u202etitle' });
    await watch.waitForOutput(/CREATE .*\n/);
    await testbed.tree.mutate('updateFolder', { id: inner, name: 'b' });
    await watch.waitForOutput(/UPDATE .*\n/);
    await testbed.tree.import(['c', 'c/d'], inner);
    await watch.waitForOutput(/IMPORT .*\n/);
    await testbed.tree.delete(inner);
    const output = await watch.waitForOutput(/DELETE .*\n/);
    assert.deepEqual(
      output.split('\n').map((line) => line.replace(/^[\d-]{10} [\d:]{8} UTC {2}/, '')),
      [
        'CREATE  /watched/a by admin',
        'UPDATE  /watched/b by admin',
        'IMPORT  /watched/b (2 folders) by admin',
        'DELETE  /watched/b by admin',
        '',
      ],
    );
    watch.signal('SIGINT');
    const { code, errors } = await watch.waitUntilEnded();
    assert.deepEqual([code, errors.split('\n').length], [130, 2]);
  });

  test('prints a line of JSON for each change and misses none when the token expires', async () => {
    const id = await testbed.tree.create('live');
    const watch = testbed.start('folder', 'watch', '/live', '--json');
    await watch.waitForOutput(/\n/, 'errors');
    await testbed.tree.create('one', id);
    await watch.waitForOutput(/\n/);
    // The server closes the socket because its token has expired.
    testbed.tree.server.clock.advanceSeconds(601);
    ({ authToken: testbed.tree.authToken } = await testbed.tree.server.logIn());
    await testbed.tree.create('two', id);
    const output = await watch.waitForOutput(/\n.*\n/);
    const changes = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; path: string });
    assert.deepEqual(
      changes.map(({ kind, path }) => [kind, path]),
      [
        ['CREATE', '/live/one'],
        ['CREATE', '/live/two'],
      ],
    );
    watch.signal('SIGTERM');
    assert.equal((await watch.waitUntilEnded()).code, 143);
  });

  test('reports when the connection is lost and when it is restored', async () => {
    const sockets: Socket[] = [];
    const { port } = new URL(testbed.tree.server.url);
    const proxy = createServer((client) => {
      const server = connect(Number(port), '127.0.0.1');
      client.pipe(server).pipe(client);
      for (const socket of [client, server]) socket.on('error', () => undefined);
      sockets.push(client, server);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await testbed.logIn(['--url', url, '--profile', 'proxy']);
    const watch = testbed.start('folder', 'watch', '--profile', 'proxy');
    await watch.waitForOutput(/Press Ctrl-C/, 'errors');
    await testbed.tree.create('first');
    await watch.waitForOutput(/\/first/);
    for (const socket of sockets) socket.destroy();
    const errors = await watch.waitForOutput(/\nConnected again\.\n$/, 'errors');
    assert.ok(errors.includes(`\nLost the connection to ${url}. Reconnecting.\nConnected again.\n`), errors);
    watch.signal('SIGTERM');
    await watch.waitUntilEnded();
    proxy.close();
  });
});

describe('espalier query', () => {
  let testbed: CliTestbed;
  before(async () => {
    testbed = await CliTestbed.start(sqlite);
    await testbed.tree.create('a', undefined, { title: 'A \u202etitle' });
  });
  after(() => testbed.stop());

  const query = 'query One($path: String) { folder(path: $path) { name } } query Two { folder { depth } }';

  test('takes the query from an argument, a file or standard input, with variables of each kind', async () => {
    const text =
      'query($path: String, $first: Int) { folder(path: $path) { name folders(first: $first) { totalCount } } }';
    const file = join(testbed.folder, 'query.graphql');
    const variables = join(testbed.folder, 'variables.json');
    writeFileSync(file, text);
    writeFileSync(variables, '{"path": "/none", "first": 3}');
    const expected = '{"folder":{"name":"a","folders":{"totalCount":0}}}\n';
    assert.equal(await testbed.output('query', text, '--variables', '{"path": "/a"}'), expected);
    assert.equal(
      await testbed.output('query', '--file', file, '--variables-file', variables, '--variable', 'path=/a'),
      expected,
    );
    const pipedRun = await testbed.run(['query', '--variable', 'path=/a'], { input: text });
    assert.deepEqual([pipedRun.code, pipedRun.output], [0, expected]);
    assert.equal(await testbed.output('query', query, '--operation', 'Two'), '{"folder":{"depth":0}}\n');
  });

  test('prints errors to standard error, one per line, and partial data to standard output', async () => {
    const cases: [text: string, output: string, errors: RegExp][] = [
      [
        '{ folder { nme } }',
        '',
        /^espalier: 1:12: Cannot query field "nme".* \(GRAPHQL_VALIDATION_FAILED\)\n$/,
      ],
      ['{ folder', '', /^espalier: 1:9: Syntax Error.* \(GRAPHQL_PARSE_FAILED\)\n$/],
      [
        'mutation { a: createFolder(input: {name: "made"}) { folder { name } } b: createFolder(input: {name: "x/y"}) { folder { id } } c: createFolder(input: {name: ""}) { folder { id } } }',
        '{"a":{"folder":{"name":"made"}},"b":null,"c":null}\n',
        /^espalier: b: .*slash.* \(BAD_INPUT\)\nespalier: c: .*empty.* \(BAD_INPUT\)\n$/,
      ],
    ];
    for (const [text, output, errors] of cases) {
      const result = await testbed.run(['query', text]);
      assert.deepEqual([result.code, result.output], [1, output]);
      assert.match(result.errors, errors);
    }
  });

  test('refuses invalid arguments without a request', async () => {
    const cases: [args: string[], message: RegExp][] = [
      [['{ folder { name } }', '--variables', '[1]'], /--variables takes a JSON object/],
      [['{ folder { name } }', '--variables', '{'], /--variables is not valid JSON/],
      [['{ folder { name } }', '--variable', 'x'], /Invalid value for --variable: use name=value/],
      [['{ folder { name } }', '--file', 'x'], /either as an argument or/],
      [[' '], /The query is empty\./],
    ];
    for (const [args, message] of cases) {
      const { code, errors } = await testbed.run(['query', ...args]);
      assert.equal(code, 2);
      assert.match(errors, message);
    }
  });

  test('prints a line for each event of a subscription until Ctrl-C', async () => {
    const { cursor } = await testbed.tree.query<{ cursor: string }>('{cursor}');
    const text =
      'subscription($after: String) { folderChanges(after: $after) { kind folder { name title } } }';
    const command = testbed.start('query', text, '--variables', JSON.stringify({ after: cursor }));
    await testbed.tree.create('b', undefined, { title: 'B \u202etitle' });
    assert.equal(
      await command.waitForOutput(/\n/),
      '{"folderChanges":{"kind":"CREATE","folder":{"name":"b","title":"B \\u202etitle"}}}\n',
    );
    command.signal('SIGINT');
    const { code, errors } = await command.waitUntilEnded();
    assert.deepEqual([code, errors], [130, '']);
  });
});
