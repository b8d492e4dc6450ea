/** `espalier schema`: the same from this program and from a server of its version. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { buildClientSchema, lexicographicSortSchema, printSchema, type IntrospectionQuery } from 'graphql';
import { sqlite } from '../support/databases.ts';
import { CommandBed } from './command-bed.ts';

const file = new URL('../../contract/schema.graphql', import.meta.url);

describe(`espalier schema on ${sqlite.name}`, () => {
  let bed: CommandBed;
  before(async () => (bed = await CommandBed.start(sqlite)));
  after(() => bed.stop());

  const sorted = (text: string) =>
    printSchema(lexicographicSortSchema(buildClientSchema(JSON.parse(text) as IntrospectionQuery)));

  test('prints the schema of the contract, without a server', async () => {
    assert.equal(await bed.done('schema', '--profile', 'nobody'), readFileSync(file, 'utf8'));
  });

  test('a server of this version has the same', async () => {
    assert.equal(await bed.done('schema', '--remote'), await bed.done('schema'));
    assert.equal(
      sorted(await bed.done('schema', '--remote', '--json')),
      sorted(await bed.done('schema', '--json')),
    );
    assert.match(await bed.refused('schema', '--remote', '--profile', 'nobody'), /^3: Nobody is logged in/);
  });
});
