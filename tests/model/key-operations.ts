/** Creates random API keys, which then read and change the tree like users. */

import fc from 'fast-check';
import { requireSeen } from './model-changes.ts';
import { operationKind, type OperationTable } from './operation.ts';
import { branches, findActor, resolveFolderId, seenFolders, weighted } from './references.ts';
import { levelNames, MANAGE, type Level } from './tree-model.ts';

/** More keys make a run slower, and fewer rarely see the same folder. */
const maxKeys = 4;

interface KeyPayload {
  readonly key: string;
  readonly apiKey: { readonly id: string };
}

const createKey = operationKind(
  8,
  fc.record({
    owner: fc.nat(3),
    slot: fc.nat(maxKeys - 1),
    level: fc.constantFrom<Level>(1, 2, 3, 3),
    folder: weighted([1, fc.constant(undefined)], [4, fc.oneof(branches, seenFolders)]),
    isAdministrator: fc.boolean(),
  }),
  async (world, { owner: index, slot, level: inputLevel, folder, isAdministrator: input }) => {
    const { model } = world;
    const owner = findActor(world, index);
    const isAdministrator = owner.isAdministrator && input;
    const level = isAdministrator ? MANAGE : inputLevel;
    const folderId = folder && !isAdministrator ? resolveFolderId(world, owner, folder) : null;
    const fields = { level: levelNames[level], folderId, isAdministrator };
    let created: KeyPayload | undefined;
    const selection = 'key apiKey{id level folderId isAdministrator folder{id}}';
    await world.mutate<KeyPayload>(
      owner,
      'createApiKey',
      { name: 'random', ...fields },
      selection,
      (payload) => {
        if (folderId !== null) requireSeen(model, owner, folderId);
        created = payload;
        const apiKey = {
          id: payload?.apiKey.id,
          ...fields,
          folder: folderId === null ? null : { id: folderId },
        };
        return { key: payload?.key, apiKey };
      },
    );
    if (!created) return;
    const { id } = created.apiKey;
    const replaced = world.keys[slot]?.key;
    if (replaced) {
      const revoked = { apiKey: { id: replaced.id } };
      const by = world.administrator;
      await world.mutate(by, 'revokeApiKey', { id: replaced.id }, 'apiKey{id}', () => revoked);
    }
    const key = { id, level, folderId, hasAdministrator: owner.isAdministrator };
    const username = `${fields.level} key of ${owner.username} for ${folderId ?? 'every folder'}`;
    world.setKey(slot, { id: owner.id, username, isAdministrator, key }, created.key);
  },
);

export const keyOperations: OperationTable = { createKey };
