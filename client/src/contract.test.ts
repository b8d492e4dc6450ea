/** Checks that codes, paths and GraphQL enums of the client match the contract, which it does not import at run time. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { buildSchema, GraphQLEnumType } from 'graphql';
import {
  endpoints,
  type GraphCode,
  type RefusalCode,
  type SecondFactorMethod as ContractMethod,
} from '@espalier/contract';
import type { ErrorCode, SecondFactorMethod } from './errors.ts';
import type { AccessLevel } from './folder.ts';
import type { FolderChangeKind } from './tree/tree-copy.ts';
import { paths } from './requests.ts';

type Equal<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

type ClientCode =
  | 'LOGGED_OUT'
  | 'INVALID_API_KEY'
  | 'UNREACHABLE'
  | 'NOT_ESPALIER'
  | 'NO_WEB_SOCKET'
  | 'NO_WEB_CRYPTO';

/** Does not compile if a code or a method is missing or superfluous. */
true satisfies Equal<Exclude<ErrorCode, ClientCode>, RefusalCode | GraphCode>;
true satisfies Equal<SecondFactorMethod, ContractMethod>;

const enums = {
  AccessLevel: { NONE: 0, READ: 0, WRITE: 0, MANAGE: 0 } satisfies Record<AccessLevel, 0>,
  FolderChangeKind: {
    CREATE: 0,
    UPDATE: 0,
    MOVE: 0,
    DELETE: 0,
    IMPORT: 0,
    RESYNC: 0,
  } satisfies Record<FolderChangeKind, 0>,
};

describe('the client and the contract', () => {
  test('have the same paths', () => {
    for (const [name, path] of Object.entries(paths)) {
      assert.equal(path, endpoints[name as keyof typeof paths].path, name);
    }
  });

  const file = new URL(import.meta.resolve('@espalier/contract/schema.graphql'));
  const schema = buildSchema(readFileSync(file, 'utf8'));
  for (const [name, values] of Object.entries(enums)) {
    test(`have the same values of ${name}`, () => {
      const type = schema.getType(name);
      assert.ok(type instanceof GraphQLEnumType);
      assert.deepEqual(
        type.getValues().map((value) => value.name),
        Object.keys(values),
      );
    });
  }
});
