/** `espalier schema` prints the same schema from the program and from a server of its version. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { buildClientSchema, lexicographicSortSchema, printSchema, type IntrospectionQuery } from 'graphql';
import { sqlite } from '../support/databases.ts';
import { CommandTestbed } from './command-testbed.ts';

const file = new URL('../../contract/schema.graphql', import.meta.url);

describe(`espalier schema on ${sqlite.name}`, () => {
  let testbed: CommandTestbed;
  before(async () => (testbed = await CommandTestbed.start(sqlite)));
  after(() => testbed.stop());

  const sorted = (text: string) =>
    printSchema(lexicographicSortSchema(buildClientSchema(JSON.parse(text) as IntrospectionQuery)));

  test('prints the schema of the contract, without a server', async () => {
    assert.equal(await testbed.runOk('schema', '--profile', 'nobody'), readFileSync(file, 'utf8'));
  });

  test('prints the same schema from a server of this version', async () => {
    assert.equal(await testbed.runOk('schema', '--remote'), await testbed.runOk('schema'));
    assert.equal(
      sorted(await testbed.runOk('schema', '--remote', '--json')),
      sorted(await testbed.runOk('schema', '--json')),
    );
    assert.match(
      await testbed.runRefused('schema', '--remote', '--profile', 'nobody'),
      /^3: You are not logged in/,
    );
  });
});
