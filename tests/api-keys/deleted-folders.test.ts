/** The rights that a key for one folder has on deleted folders. They determine the earlier changes that the key sees. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readAccess } from '../../server/src/access/access-cache.ts';
import { accessLevelName, accessLevels, type Access } from '../../server/src/access/access.ts';
import type { ConsistentReader } from '../../server/src/database/database.ts';
import { PeopleTestbed } from '../people/people-testbed.ts';
import { databaseKinds } from '../support/databases.ts';
import { withDatabase } from '../support/stored-rows.ts';

for (const kind of databaseKinds) {
  describe(`a key for one folder on ${kind.name}`, () => {
    let people: PeopleTestbed;
    let userId: string;
    let place: string;
    before(async () => {
      people = await PeopleTestbed.start(kind);
      userId = (await people.createUser()).id;
      place = await createFolder('Place');
    });
    after(() => people.stop());

    const createFolder = async (name: string, parentId?: string) =>
      (await people.mutate<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}'))
        .folder.id;
    const remove = (id: string) => people.mutate('deleteFolder', { id, recursive: true });

    /**
     * Deletes each folder inside the next one, and the last one inside `parentId`. Returns the id of the first folder. The user has
     * a grant on it.
     */
    const deleteChain = async (length: number, parentId?: string) => {
      const ids: string[] = [];
      for (let index = 0; index < length; index++) {
        const id = await createFolder(`link ${length} ${index}`, parentId);
        const innerId = ids.at(-1);
        if (innerId === undefined)
          await people.mutate('grantAccess', { folderId: id, userId, level: 'WRITE' });
        else {
          await people.mutate('moveFolder', { id: innerId, parentId: id });
          await remove(innerId);
        }
        ids.push(id);
      }
      await remove(ids.at(-1)!);
      return ids[0]!;
    };

    const read = async <T>(use: (access: Access, statements: number) => T) =>
      withDatabase(people.server.database.url, (database) =>
        database.shortSnapshot(async (reader) => {
          let statements = 0;
          const counting: ConsistentReader = {
            isConsistent: true,
            isEmbedded: reader.isEmbedded,
            get: (...query) => (statements++, reader.get(...query)),
            all: (...query) => (statements++, reader.all(...query)),
          };
          const limits = { id: 'key', level: accessLevels.READ, folderId: place, isAdministrator: false };
          const access = await readAccess(counting, { userId, isAdministrator: false, limits });
          return use(access, statements);
        }),
      );
    const levelOf = (id: string) => read((access) => accessLevelName(access.levelAt([id])));

    test('has rights on a deleted folder only if it was inside the folder of the key', async () => {
      const cases = [
        { length: 1, parentId: place, expected: 'READ' },
        { length: 1, parentId: undefined, expected: 'NONE' },
        { length: 4, parentId: place, expected: 'READ' },
        { length: 4, parentId: undefined, expected: 'NONE' },
      ] as const;
      for (const { length, parentId, expected } of cases) {
        const id = await deleteChain(length, parentId);
        assert.equal(await levelOf(id), expected, `${length} in ${parentId}`);
      }
    });

    test('has no rights on a folder that was moved out and then deleted', async () => {
      const outside = await createFolder('Outside');
      const moved = await createFolder('Moved', place);
      await people.mutate('grantAccess', { folderId: moved, userId, level: 'WRITE' });
      await people.mutate('moveFolder', { id: moved, parentId: outside });
      await remove(moved);
      await remove(outside);
      assert.equal(await levelOf(moved), 'NONE');
    });

    test('has rights on a deleted folder if its former parent was moved into the folder of the key', async () => {
      const parent = await createFolder('Parent');
      const id = await deleteChain(2, parent);
      assert.equal(await levelOf(id), 'NONE');
      await people.mutate('moveFolder', { id: parent, parentId: place });
      assert.equal(await levelOf(id), 'READ');
    });

    test('has rights that take the same number of statements to read, however long a chain of deleted folders is', async () => {
      const count = () => read((_, statements) => statements);
      const few = await count();
      await deleteChain(8, place);
      assert.equal(await count(), few);
    });
  });
}
