/** API keys: the type, its lists and the mutations. Only administrators and the user of a key receive an ApiKey. */

import type { ObjectFieldBuilder } from '@pothos/core';
import { apiKeyState, readApiKey } from '../../../accounts/api-keys.ts';
import { requireAdministrator, requireUser } from '../../../accounts/users.ts';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import { Refusal } from '../../../refusal.ts';
import { apiKeyPrefix } from '../../../sessions/api-key-text.ts';
import { findApiKey } from '../../../sessions/manage-api-keys.ts';
import { personalField } from '../../field-marks.ts';
import {
  AccessLevel,
  ApiKey,
  ApiKeyConnection,
  builder,
  Folder,
  User,
  type ExtendedTypes,
} from '../builder.ts';
import { chargeList } from '../charges.ts';
import { defineConnection, pageArguments } from '../connections/relay-connection-types.ts';
import { KeysetConnection } from '../connections/relay-connection.ts';
import { defineMutation, type MutationResponse } from '../mutation.ts';
import { apiKeyList, apiKeysOfUsers, keyOrder, toApiKeyNodes, type ApiKeyNode } from './api-key-batch.ts';
import { requireExisting, toUserNode } from './people-batch.ts';
import {
  forAdministratorsAndSelf,
  notInViewOrKey,
  readableIds,
  requireDetails,
  requireAccountDetails,
  Viewer,
} from './people-types.ts';

defineConnection(ApiKey, 'API keys', { Connection: ApiKeyConnection });

const ApiKeyState = builder.enumType('ApiKeyState', {
  description: 'Whether an API key can be used.',
  values: {
    ACTIVE: { description: 'The key can be used, unless its user is disabled.' },
    EXPIRED: { description: 'The time `expiresAt` has passed.' },
    REVOKED: { description: 'The key was revoked.' },
  } as const,
});

ApiKey.implement({
  description:
    'A credential for a program. Send it as `Authorization: Bearer esp_…` to `/graphql`. The program has at most the rights of the user of the key.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id, a UUID that never changes.' }),
    name: t.exposeString('name', { description: 'The name, which need not be unique.' }),
    start: t.string({
      description:
        'The first characters of the key, which are not secret, to recognize it in a configuration.',
      resolve: ({ identifier }) => `${apiKeyPrefix}${identifier}`,
    }),
    user: t.field({
      type: User,
      description: 'The user whose rights limit the key: a service account, or a person.',
      resolve: ({ userId, userOf }) => whenDone(userOf(userId), requireExisting),
    }),
    level: t.expose('level', {
      type: AccessLevel,
      description: 'The highest access level that the key has on any folder.',
    }),
    isAdministrator: t.exposeBoolean('isAdministrator', {
      description: 'Whether the key acts as administrator, as long as its user is one.',
    }),
    folderId: t.exposeID('folderId', {
      nullable: true,
      description:
        'The only folder that the key can read, with the folders inside it. Null if the key is not confined to a folder.',
    }),
    folder: t.field({
      type: Folder,
      nullable: true,
      description:
        'The folder of `folderId`. Also null if you do not see it. The key reads nothing while the folder is deleted.',
      resolve: ({ folderId, folderOf }) => folderOf(folderId),
    }),
    networks: t.field({
      type: ['String'],
      description:
        'The client addresses from which the key works, in CIDR notation, for example 10.0.0.0/8. Empty if it works from every address.',
      resolve: chargeList(({ networks }) => networks),
    }),
  }),
});

builder.objectFields(ApiKey, (t) => ({
  state: t.field({
    type: ApiKeyState,
    description: 'Whether the key can be used.',
    resolve: (key, _, { clock }) => apiKeyState(key, clock.now()),
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the key was created.' }),
  createdBy: t.field({
    type: User,
    nullable: true,
    description: 'The user who created the key. Null if this user no longer exists.',
    resolve: ({ createdBy, userOf }) => userOf(createdBy),
  }),
  expiresAt: t.expose('expiresAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When the key expires. Null if it never expires.',
  }),
  revokedAt: t.expose('revokedAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When the key was revoked. Null if it was not revoked.',
  }),
  lastUsedAt: t.expose('lastUsedAt', {
    type: 'DateTime',
    nullable: true,
    description:
      'The time of the last use, at most two minutes late. An open WebSocket or event stream uses its key all the time. Null if the key was never used.',
  }),
  lastUsedAddress: t.string({
    extensions: personalField,
    nullable: true,
    description:
      'The IP address of the last use, if known. Always null for API keys that do not act as administrator.',
    resolve: ({ lastUsedAddress }, _, { viewer, access }) =>
      viewer.apiKeyId === undefined || access.isAdministrator ? lastUsedAddress : null,
  }),
  isCurrent: t.boolean({
    extensions: personalField,
    description: 'Whether this request uses the key.',
    resolve: ({ id }, _, { viewer }) => id === viewer.apiKeyId,
  }),
}));

const listText = `newest first, with the keys that expired or were revoked in the last 90 days. ${notInViewOrKey}`;

builder.objectField(User, 'apiKeys', (t) =>
  t.field({
    extensions: personalField,
    type: ApiKeyConnection,
    nullable: true,
    description: `The API keys of the user, ${listText} ${forAdministratorsAndSelf}`,
    args: pageArguments(t.arg),
    resolve: (user, page, { access, view, budget, viewer }, info) => {
      requireAccountDetails(viewer, access);
      const { id, batch } = requireDetails(user, access);
      const keys = batch.readOnce('API keys', () => apiKeysOfUsers(view, readableIds(user, access)));
      return keys.connect(id, keyOrder, page, { budget, info });
    },
  }),
);

builder.objectField(Viewer, 'apiKey', (t) =>
  t.field({
    type: ApiKey,
    nullable: true,
    description: 'The API key of the request. Null for a request with an auth token.',
    resolve: ({ apiKeyId }, _, { reader, view }) =>
      apiKeyId === undefined
        ? null
        : whenDone(readApiKey(reader, apiKeyId), (key) => toApiKeyNodes(view, [requireExisting(key)])[0]!),
  }),
);

builder.queryFields((t) => ({
  apiKeys: t.field({
    type: ApiKeyConnection,
    description: `The API keys of all users or of one user, ${listText} Only administrators may list the keys of other users.`,
    args: {
      userId: t.arg.id({
        description: 'Return only the keys of this user. NOT_FOUND if the user does not exist.',
      }),
      ...pageArguments(t.arg),
    },
    resolve: async (_, { userId, ...page }, { access, reader, view, budget, viewer }, info) => {
      requireAccountDetails(viewer, access);
      if (typeof userId !== 'string' || !access.isSelf(userId)) requireAdministrator(access);
      if (typeof userId !== 'string') return new KeysetConnection(apiKeyList(view), page);
      await requireUser(reader, userId);
      return apiKeysOfUsers(view, [userId]).connect(userId, keyOrder, page, { budget, info });
    },
  }),
  apiKey: t.field({
    type: ApiKey,
    nullable: true,
    description:
      'Find an API key by id. Null if there is no such key. Only administrators find keys of other users. A request with an API key that does not act as administrator finds only this key.',
    args: { id: t.arg.id({ required: true, description: 'The id of the key.' }) },
    resolve: async (_, { id }, { access, reader, view, viewer }) => {
      const key = await findApiKey(reader, viewer, access, id);
      return key ? toApiKeyNodes(view, [key])[0]! : null;
    },
  }),
}));

const keyPayload = (t: ObjectFieldBuilder<ExtendedTypes, { readonly apiKey: ApiKeyNode }>) => ({
  apiKey: t.expose('apiKey', { type: ApiKey, description: 'The API key after the change.' }),
});

async function currentKey(id: string, { context: { reader, view } }: MutationResponse): Promise<ApiKeyNode> {
  const key = await readApiKey(reader, id);
  if (!key) throw new Refusal('NOT_FOUND', 'The API key no longer exists.');
  return toApiKeyNodes(view, [key])[0]!;
}

defineMutation('createApiKey', {
  description:
    'Create an API key for yourself or, as an administrator, for a service account. The response contains the key itself, which the server does not store: save it immediately. FORBIDDEN for another person, and for a request with an API key that does not act as administrator. With an API key, also FORBIDDEN if the new key would expire later than that key, or work from other networks. CONFLICT if the user has 100 active keys, or if 1,000 keys were created for the user in 24 hours.',
  input: (t) => ({
    userId: t.id({ description: 'The id of the user of the key: yourself by default.' }),
    name: t.string({
      required: true,
      description: 'A name to recognize the key: 1 to 128 characters without control characters.',
    }),
    level: t.field({
      type: AccessLevel,
      required: true,
      description: 'The highest access level that the key has on any folder: READ, WRITE or MANAGE.',
    }),
    folderId: t.id({
      description:
        'The only folder that the key can read, with the folders inside it. By default, every folder.',
    }),
    isAdministrator: t.boolean({
      required: true,
      defaultValue: false,
      description:
        'Whether the key acts as administrator. Requires a user who is an administrator, the level MANAGE, and no folder.',
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When the key expires, at most 10 years from now. By default, it never expires.',
    }),
    networks: t.stringList({
      description:
        'The client addresses from which the key works: up to 50 IP addresses or CIDR ranges, for example 10.0.0.0/8. By default, every address.',
    }),
  }),
  change: ({ apiKeys }, caller, input) => apiKeys.create(caller, input),
  toPayload: async ({ id, text }, response) => ({
    apiKey: await currentKey(id, response),
    text: text ?? null,
  }),
  payload: (t) => ({
    ...keyPayload(t),
    key: t.exposeString('text', {
      nullable: true,
      description:
        'The key itself. You cannot read it again. Null if an earlier request with the same Idempotency-Key created it: then revoke it and create another one.',
    }),
  }),
});

defineMutation('revokeApiKey', {
  description:
    'Revoke an API key: requests with it fail immediately, and its sockets close within a second, on every node. You cannot undo this. Only administrators may revoke the keys of other users. If the request uses the revoked key itself, the response is INVALID_AUTH_TOKEN after the change, because the key can no longer read it. NOT_FOUND if there is no such key, or if you may not revoke it.',
  input: (t) => ({ id: t.id({ required: true, description: 'The id of the API key.' }) }),
  change: ({ apiKeys }, caller, { id }) => apiKeys.revoke(caller, id),
  toPayload: async (_, response, { id }) => ({ apiKey: await currentKey(id, response) }),
  payload: keyPayload,
});

defineMutation('convertToServiceAccount', {
  description:
    'Convert a person to a service account: a user for programs, with API keys but without a password. Deletes the password, the second factors and the linked accounts of the user, and ends all sessions. The grants and groups stay. You cannot undo this. Only for administrators. CONFLICT for yourself, for a user who is already a service account, and if no other person is an administrator.',
  input: (t) => ({ userId: t.id({ required: true, description: 'The id of the user.' }) }),
  change: ({ users }, caller, { userId }) => users.convertToServiceAccount(caller, userId),
  toPayload: async ({ id }, { context: { reader } }) => ({ user: toUserNode(await requireUser(reader, id)) }),
  payload: (t) => ({
    user: t.expose('user', { type: User, description: 'The user after the change.' }),
  }),
});
