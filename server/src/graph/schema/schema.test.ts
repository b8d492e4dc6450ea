import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLType,
} from 'graphql';
import { createSchema } from './schema.ts';

const schema = createSchema();

test('makes every mutation nullable, so that an error does not remove the results of other mutations', () => {
  const fields = Object.values(schema.getMutationType()!.getFields());
  assert.ok(fields.length > 15);
  for (const { name, type } of fields) assert.ok(!isNonNullType(type), name);
});

test('gives every mutation one argument, `input`', () => {
  for (const { name, args } of Object.values(schema.getMutationType()!.getFields())) {
    assert.deepEqual(
      args.map((argument) => argument.name),
      ['input'],
      name,
    );
  }
});

/** Clients such as Relay and Apollo Client cache objects by `id`. Each of these types has random ids of its own. */
const typesWithIds = [
  'ApiKey',
  'Folder',
  'Group',
  'Identity',
  'Passkey',
  'Session',
  'SignIn',
  'SigningKey',
  'User',
];

test('has a field `id` only on types with ids of their own', () => {
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type));
  const withIds = types.filter((type) => 'id' in type.getFields());
  assert.deepEqual(withIds.map(({ name }) => name).sort(), typesWithIds);
  for (const type of withIds) assert.equal(String(type.getFields()['id']!.type), 'ID!', type.name);
});

test('implements Node only on types with ids of their own', () => {
  const node = schema.getType('Node');
  assert.ok(isInterfaceType(node));
  for (const { name } of schema.getPossibleTypes(node)) assert.ok(typesWithIds.includes(name), name);
});

/** The bounds of the lists that are not in a connection. */
const boundedLists: Readonly<Record<string, string>> = {
  'Folder.ancestors': 'The tree is at most 256 levels deep.',
  'JournalEntry.ancestorIds': 'The tree is at most 256 levels deep.',
  'JournalEntry.formerAncestorIds': 'The tree is at most 256 levels deep.',
  'SecondFactor.passkeys': 'A user has at most 20 passkeys.',
  'ConfirmTotpEnrolmentPayload.recoveryCodes': 'Ten codes.',
  'CreateRecoveryCodesPayload.recoveryCodes': 'Ten codes.',
  'FinishPasskeyEnrolmentPayload.recoveryCodes': 'Ten codes.',
  'Session.refreshes': 'Holds the latest 20 refreshes.',
  'ApiKey.networks': 'Holds at most 50 networks.',
  'CreateApiKeyInput.networks': 'Holds at most 50 networks.',
  'User.identities': 'A user has at most 20 identities.',
  'Viewer.identities': 'A user has at most 20 identities.',
  'Viewer.recentFolders': 'Holds the latest 20 visits.',
  'TrashPage.items': 'A page: `first` is at most ESPALIER_MAX_PAGE_SIZE, and 50 by default.',
  'ChangePage.items': 'A page: `first` is at most ESPALIER_MAX_PAGE_SIZE, and 50 by default.',
  'Query.exportFolders': 'Holds at most ESPALIER_MAX_EXPORT_FOLDERS folders.',
  'Activity.minutes': 'The argument `minutes` is at most 60.',
  'ServerInfo.health': 'One entry for each check in the code.',
  'ServerInfo.settings': 'One entry for each setting in the code.',
  'ServerInfo.keys':
    'At most one key is waiting to sign, and a retired key is deleted once no session needs it.',
  'ImportFoldersInput.tree': 'Holds at most ESPALIER_MAX_IMPORT_FOLDERS folders.',
  'ImportFoldersInput.list': 'Holds at most ESPALIER_MAX_IMPORT_FOLDERS folders.',
  'ImportedFolder.folders': 'Holds at most ESPALIER_MAX_IMPORT_FOLDERS folders.',
  'AddToGroupInput.userIds': 'The request body is at most 32 MiB.',
  'RemoveFromGroupInput.userIds': 'The request body is at most 32 MiB.',
  'JournalFilter.kinds': 'The request body is at most 32 MiB.',
  'SignInFilter.methods': 'The request body is at most 32 MiB.',
  'SignInFilter.results': 'The request body is at most 32 MiB.',
};

test('contains only lists that are in a connection or bounded in another way', () => {
  const lists = Object.values(schema.getTypeMap()).flatMap((type) => {
    const hasFields = isObjectType(type) || isInputObjectType(type);
    if (!hasFields || isIntrospectionType(type)) return [];
    return Object.values<{ name: string; type: GraphQLType }>(type.getFields())
      .filter((field) => isListType(getNullableType(field.type)))
      .map((field) => `${type.name}.${field.name}`);
  });
  const unpaged = lists.filter((name) => !/^\w+Connection\.(edges|items)$/.test(name));
  assert.deepEqual(unpaged.toSorted(), Object.keys(boundedLists).toSorted());
});

test('gives every connection the arguments `first` and `after`', () => {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (!String(field.type).replace('!', '').endsWith('Connection')) continue;
      const names = field.args.map((argument) => argument.name);
      assert.ok(names.includes('first') && names.includes('after'), `${type.name}.${field.name}`);
    }
  }
});

test('describes every type, field, argument and enum value with a sentence', () => {
  const missing: string[] = [];
  const check = (name: string, { description }: { readonly description?: string | null | undefined }) => {
    if (!description?.trim().endsWith('.')) missing.push(name);
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue;
    check(type.name, type);
    if (isEnumType(type)) for (const value of type.getValues()) check(`${type.name}.${value.name}`, value);
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    const fields: Readonly<Record<string, GraphQLInputField | GraphQLField<unknown, unknown>>> =
      type.getFields();
    for (const field of Object.values(fields)) {
      check(`${type.name}.${field.name}`, field);
      for (const argument of 'args' in field ? field.args : []) {
        check(`${type.name}.${field.name}(${argument.name})`, argument);
      }
    }
  }
  assert.deepEqual(missing, []);
});
