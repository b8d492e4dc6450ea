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
import type { TreeView } from '../../../folders/tree-view.ts';
import { BatchedLists, toTimeAndId, type KeysetList } from '../connections/relay-connection.ts';
import { readFolderNodes, type FolderNode } from '../folders/folder-batch.ts';
import { readTogether, readUserNodes, type UserNode } from './people-batch.ts';

/** A key with its users and its folder, which are read for all keys of a list together. */
export interface ApiKeyNode extends ApiKey {
  readonly userOf: (id: string | null) => PromiseOrValue<UserNode | null>;
  readonly folderOf: (id: string | null) => PromiseOrValue<FolderNode | null>;
}

export function toApiKeyNodes(view: TreeView, keys: readonly ApiKey[]): readonly ApiKeyNode[] {
  const userOf = readTogether(
    keys.flatMap(({ userId, createdBy }) => [userId, createdBy]),
    (ids) => readUserNodes(view.reader, ids),
  );
  const folderOf = readTogether(
    keys.map(({ folderId }) => folderId),
    (ids) => readFolderNodes(view, ids),
  );
  return keys.map((key) => ({ ...key, userOf, folderOf }));
}

/** Reads keys with their users and folders. The map has no entry for an id without a key. */
export function readApiKeyNodes(
  view: TreeView,
  ids: readonly string[],
): PromiseOrValue<ReadonlyMap<string, ApiKeyNode>> {
  return whenDone(
    readApiKeys(view.reader, ids),
    (keys) => new Map(toApiKeyNodes(view, [...keys.values()]).map((node) => [node.id, node])),
  );
}

export const keyOrder = {
  name: 'API keys',
  keyOf: ({ createdAt, id }: ApiKeyNode) => `${createdAt} ${id}`,
};

/** The keys of all users. */
export function apiKeyList(view: TreeView): KeysetList<ApiKeyNode> {
  return {
    ...keyOrder,
    read: ({ after, limit }) =>
      whenDone(listApiKeys(view.reader, { after: toPosition(after), limit }), (keys) =>
        toApiKeyNodes(view, keys),
      ),
    count: () => countApiKeys(view.reader),
  };
}

/** The keys of each user. */
export function apiKeysOfUsers(view: TreeView, userIds: readonly string[]): BatchedLists<ApiKeyNode> {
  return new BatchedLists(userIds, {
    read: (ids, { after, limit }) =>
      whenDone(listApiKeysOf(view.reader, ids, { after: toPosition(after), limit }), (keys) =>
        Map.groupBy(toApiKeyNodes(view, [...keys.values()].flat()), ({ userId }) => userId),
      ),
    count: (ids) => countApiKeysOf(view.reader, ids),
  });
}

function toPosition(key: string | undefined): ApiKeyPosition | undefined {
  const position = toTimeAndId(key);
  return position && { createdAt: position.time, id: position.id };
}
