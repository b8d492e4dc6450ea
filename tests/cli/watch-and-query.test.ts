/** `espalier folder watch` and `espalier query`: commands that run until they are stopped, and any GraphQL request. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import { CliTestbed } from './cli-bed.ts';

describe('espalier folder watch', () => {
  let bed: CliTestbed;
  before(async () => (bed = await CliTestbed.start(sqlite)));
  after(() => bed.stop());

  test('prints a line for each change inside the folder, reports on standard error that it watches, and ends with Ctrl-C', async () => {
    const id = await bed.tree.create('watched');
    const watch = bed.start('folder', 'watch', '/watched');
    assert.match(
      await watch.waitForOutput(/\n/, 'errors'),
      /^Watching \/watched at http:\S+; Ctrl-C ends it\.\n$/,
    );
    await bed.tree.create('elsewhere');
    const inner = await bed.tree.create('a', id, { title: 'A \u202etitle' });
    await watch.waitForOutput(/CREATE .*\n/);
    await bed.tree.mutate('updateFolder', { id: inner, name: 'b' });
    await watch.waitForOutput(/UPDATE .*\n/);
    await bed.tree.import(['c', 'c/d'], inner);
    await watch.waitForOutput(/IMPORT .*\n/);
    await bed.tree.delete(inner);
    const output = await watch.waitForOutput(/DELETE .*\n/);
    assert.deepEqual(
      output.split('\n').map((line) => line.slice(26)),
      [
        'CREATE  /watched/a by admin',
        'UPDATE  /watched/b by admin',
        'IMPORT  /watched/b (2 folders) by admin',
        'DELETE  /watched/b by admin',
        '',
      ],
    );
    watch.signal('SIGINT');
    const { code, errors } = await watch.ended();
    assert.deepEqual([code, errors.split('\n').length], [130, 2]);
  });

  test('prints a line of JSON for each change and misses none when the token expires', async () => {
    const id = await bed.tree.create('live');
    const watch = bed.start('folder', 'watch', '/live', '--json');
    await watch.waitForOutput(/\n/, 'errors');
    await bed.tree.create('one', id);
    await watch.waitForOutput(/\n/);
    // The server closes the socket because its token has expired.
    bed.tree.testbed.clock.advanceSeconds(601);
    ({ authToken: bed.tree.authToken } = await bed.tree.testbed.logIn());
    await bed.tree.create('two', id);
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
    assert.equal((await watch.ended()).code, 143);
  });
});

describe('espalier query', () => {
  let bed: CliTestbed;
  before(async () => {
    bed = await CliTestbed.start(sqlite);
    await bed.tree.create('a', undefined, { title: 'A \u202etitle' });
  });
  after(() => bed.stop());

  const query = 'query One($path: String) { folder(path: $path) { name } } query Two { folder { depth } }';

  test('takes the query from an argument, a file or standard input, with variables of each kind', async () => {
    const text =
      'query($path: String, $first: Int) { folder(path: $path) { name folders(first: $first) { totalCount } } }';
    const file = join(bed.folder, 'query.graphql');
    const variables = join(bed.folder, 'variables.json');
    writeFileSync(file, text);
    writeFileSync(variables, '{"path": "/none", "first": 3}');
    const expected = '{"folder":{"name":"a","folders":{"totalCount":0}}}\n';
    assert.equal(await bed.output('query', text, '--variables', '{"path": "/a"}'), expected);
    assert.equal(
      await bed.output('query', '--file', file, '--variables-file', variables, '--variable', 'path=/a'),
      expected,
    );
    const piped = await bed.run(['query', '--variable', 'path=/a'], { input: text });
    assert.deepEqual([piped.code, piped.output], [0, expected]);
    assert.equal(await bed.output('query', query, '--operation', 'Two'), '{"folder":{"depth":0}}\n');
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
      const result = await bed.run(['query', text]);
      assert.deepEqual([result.code, result.output], [1, output]);
      assert.match(result.errors, errors);
    }
  });

  test('refuses invalid arguments without a request', async () => {
    const cases: [args: string[], message: RegExp][] = [
      [['{ folder { name } }', '--variables', '[1]'], /--variables takes a JSON object/],
      [['{ folder { name } }', '--variables', '{'], /--variables holds no JSON/],
      [['{ folder { name } }', '--variable', 'x'], /--variable takes name=value/],
      [['{ folder { name } }', '--file', 'x'], /given twice/],
    ];
    for (const [args, message] of cases) {
      const { code, errors } = await bed.run(['query', ...args]);
      assert.equal(code, 2);
      assert.match(errors, message);
    }
  });

  test('prints a line for each event of a subscription until Ctrl-C', async () => {
    const { cursor } = await bed.tree.query<{ cursor: string }>('{cursor}');
    const text =
      'subscription($after: String) { folderChanges(after: $after) { kind folder { name title } } }';
    const command = bed.start('query', text, '--variables', JSON.stringify({ after: cursor }));
    await bed.tree.create('b', undefined, { title: 'B \u202etitle' });
    assert.equal(
      await command.waitForOutput(/\n/),
      '{"folderChanges":{"kind":"CREATE","folder":{"name":"b","title":"B \\u202etitle"}}}\n',
    );
    command.signal('SIGINT');
    const { code, errors } = await command.ended();
    assert.deepEqual([code, errors], [130, '']);
  });
});
