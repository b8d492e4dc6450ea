import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNonNullType } from 'graphql';
import { createSchema } from './schema.ts';

const schema = createSchema();

test('a mutation that fails does not take along the answers of those before it: each of them can be null', () => {
  const fields = Object.values(schema.getMutationType()!.getFields());
  assert.ok(fields.length > 15);
  for (const { name, type } of fields) assert.ok(!isNonNullType(type), name);
});

test('every mutation takes one argument, its input', () => {
  for (const { name, args } of Object.values(schema.getMutationType()!.getFields())) {
    assert.deepEqual(
      args.map((argument) => argument.name),
      ['input'],
      name,
    );
  }
});
