/** API keys that were read together, and the paginated lists of API keys. */

import {
  countApiKeys,
  countApiKeysOf,
  listApiKeys,
  listApiKeysOf,
  readApiKeys,
  type ApiKey,
  type ApiKeyPosition,
} from '../../../accounts/api-keys.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import type { Reader } from '../../../database/database.ts';
import { BatchedLists, toTimeAndId, type KeysetList } from '../connections/relay-connection.ts';
import { readTogether, readUserNodes, type UserNode } from './people-batch.ts';

/** A key with its users, which are read for all keys of a list together. */
export interface ApiKeyNode extends ApiKey {
  readonly userOf: (id: string | null) => PromiseOrValue<UserNode | null>;
}

export function toApiKeyNodes(reader: Reader, keys: readonly ApiKey[]): readonly ApiKeyNode[] {
  const userOf = readTogether(
    keys.flatMap(({ userId, createdBy }) => [userId, createdBy]),
    (ids) => readUserNodes(reader, ids),
  );
  return keys.map((key) => ({ ...key, userOf }));
}

/** Reads keys with their users. The map has no entry for an id without a key. */
export function readApiKeyNodes(
  reader: Reader,
  ids: readonly string[],
): PromiseOrValue<ReadonlyMap<string, ApiKeyNode>> {
  return whenDone(
    readApiKeys(reader, ids),
    (keys) => new Map(toApiKeyNodes(reader, [...keys.values()]).map((node) => [node.id, node])),
  );
}

export const keyOrder = {
  name: 'API keys',
  keyOf: ({ createdAt, id }: ApiKeyNode) => `${createdAt} ${id}`,
};

/** The keys of all users. */
export function apiKeyList(reader: Reader): KeysetList<ApiKeyNode> {
  return {
    ...keyOrder,
    read: ({ after, limit }) =>
      whenDone(listApiKeys(reader, { after: toPosition(after), limit }), (keys) =>
        toApiKeyNodes(reader, keys),
      ),
    count: () => countApiKeys(reader),
  };
}

/** The keys of each user. */
export function apiKeysOfUsers(reader: Reader, userIds: readonly string[]): BatchedLists<ApiKeyNode> {
  return new BatchedLists(userIds, {
    read: (ids, { after, limit }) =>
      whenDone(listApiKeysOf(reader, ids, { after: toPosition(after), limit }), (keys) =>
        Map.groupBy(toApiKeyNodes(reader, [...keys.values()].flat()), ({ userId }) => userId),
      ),
    count: (ids) => countApiKeysOf(reader, ids),
  });
}

function toPosition(key: string | undefined): ApiKeyPosition | undefined {
  const position = toTimeAndId(key);
  return position && { createdAt: position.time, id: position.id };
}
