import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { buildSchema, graphqlSync } from 'graphql';
import {
  searchSchema,
  splitType,
  schemaDocument,
  createSchemaView,
  type SchemaResponse,
} from './schema-model.ts';

const schemaText = readFileSync(new URL('../../../contract/schema.graphql', import.meta.url), 'utf8');
const answer = graphqlSync({ schema: buildSchema(schemaText), source: schemaDocument });
const view = createSchemaView(answer.data as unknown as SchemaResponse);
const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

describe('schema model', () => {
  test('lists the operations and types, without root types and built-in types', () => {
    const [queries, mutations, subscriptions] = view.operations;
    assert.ok(names(queries!.fields).includes('folder'));
    assert.ok(names(mutations!.fields).includes('createFolder'));
    assert.ok(names(subscriptions!.fields).includes('folderChanges'));
    assert.ok(names(view.types).includes('Folder'));
    for (const name of ['Query', 'Mutation', '__Schema']) assert.ok(!names(view.types).includes(name), name);
  });

  test('searches the names of fields, arguments and values', () => {
    const results = searchSchema(view, ' NAMECONTAINS ');
    assert.deepEqual(names(results.types), ['FolderFilter']);
    assert.deepEqual(
      results.operations.map(({ fields }) => fields.length),
      [0, 0, 0],
    );
    assert.ok(names(searchSchema(view, 'folderId').operations[0]!.fields).includes('explainAccess'));
    assert.deepEqual(names(searchSchema(view, 'rotate_key').types), ['JournalKind']);
  });

  test('formats types in GraphQL notation', () => {
    const folders = view.types.find(({ name }) => name === 'FolderConnection')!.fields!;
    assert.deepEqual(splitType(folders.find(({ name }) => name === 'items')!.type), {
      before: '[',
      name: 'Folder',
      after: '!]!',
    });
  });
});
