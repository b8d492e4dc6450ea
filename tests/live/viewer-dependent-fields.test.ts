/**
 * The schema marks fields that depend on the viewer, because responses with them are shared only within one
 * session.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObjectType, getNamedType, type GraphQLObjectType } from 'graphql';
import { createSchema } from '../../server/src/graph/schema/schema.ts';

/**
 * The fields that a subscription can reach and whose values depend on the viewer, not only on rights. Mark new ones
 * with `isPersonal`.
 */
const viewerDependentFields = [
  'ApiKey.isCurrent',
  'ApiKey.lastUsedAddress',
  'Folder.access',
  'Session.isCurrent',
  'User.apiKeys',
  'User.createdAt',
  'User.grants',
  'User.groups',
  'User.hasSecondFactor',
  'User.identities',
  'User.isAdministrator',
  'User.isDisabled',
  'User.lastLoginAt',
  'User.sessions',
];

const reachableTypes = [
  'ApiKey',
  'ApiKeyConnection',
  'ApiKeyEdge',
  'EffectiveAccess',
  'EffectiveAccessConnection',
  'EffectiveAccessEdge',
  'Folder',
  'FolderChange',
  'FolderConnection',
  'FolderEdge',
  'Grant',
  'GrantConnection',
  'GrantEdge',
  'Group',
  'GroupConnection',
  'GroupEdge',
  'Identity',
  'JournalEntry',
  'PageInfo',
  'Session',
  'SessionConnection',
  'SessionEdge',
  'SessionRefresh',
  'Subscription',
  'User',
  'UserConnection',
  'UserEdge',
];

test('the schema marks every viewer-dependent field that a subscription can reach', () => {
  const schema = createSchema();
  const reached = new Set<GraphQLObjectType>();
  const reach = (type: unknown) => {
    if (!isObjectType(type) || reached.has(type)) return;
    reached.add(type);
    Object.values(type.getFields()).forEach((field) => reach(getNamedType(field.type)));
  };
  reach(schema.getSubscriptionType());
  const marked = [...reached].flatMap((type) =>
    Object.values(type.getFields())
      .filter(({ extensions }) => extensions['isPersonal'] === true)
      .map(({ name }) => `${type.name}.${name}`),
  );
  assert.deepEqual(marked.sort(), viewerDependentFields);
  // When you add a type to this list, mark its fields that depend on the viewer.
  assert.deepEqual([...reached].map(({ name }) => name).sort(), reachableTypes);
});
