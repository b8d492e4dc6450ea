/** What a new folder takes at the least: one synced transaction with the rows that ours writes, and no check at all. */

import { randomInt } from 'node:crypto';
import { newFolderId } from '../../server/src/folders/folder-id.ts';
import type { Respond } from './respond.ts';
import { openBareSqlite } from './bare-sqlite.ts';

export interface CreateInput {
  /** A copy of ours. */
  readonly file: string;
  readonly parentId: string;
  readonly userId: string;
  /** From the root to the parent. */
  readonly way: readonly string[];
}

export function respondToCreate({ file, parentId, userId, way }: CreateInput, recordedBody: string): Respond {
  const connection = openBareSqlite(file);
  const advance = connection.prepare('update journal_counter set number = number + 1, nonce = ?');
  const insert = connection.prepare(
    `insert into folders (id, parent_id, name, sort_key, folded_name, child_count, height, number, version, created_at,
      updated_at) values (?, ?, ?, ?, ?, 0, 0, ?, 1, ?, ?)`,
  );
  // The index for search follows from it.
  const setNumber = connection.prepare('update folder_numbers set last = ?');
  const count = connection.prepare('update folders set child_count = child_count + 1 where id = ?');
  const record = connection.prepare(
    `insert into journal (number, at, kind, changes_access, by_user_id, folder_id, way, after, nonce)
    select number, ?, 'CREATE_FOLDER', 0, ?, ?, ?, ?, nonce from journal_counter`,
  );
  const begin = connection.prepare('begin immediate');
  const commit = connection.prepare('commit');
  let last = connection.prepare('select last from folder_numbers').pluck().get() as number;
  const [before = '', after = ''] = recordedBody.split(/[0-9a-f-]{36}/);

  return (body) => {
    const { variables } = JSON.parse(body.toString()) as { variables: { input: { name: string } } };
    const { name } = variables.input;
    const now = Date.now();
    // Of the same kind: others would be written to other places of the indexes.
    const id = newFolderId(now);
    begin.run();
    advance.run(randomInt(1, 2 ** 32));
    insert.run(id, parentId, name, Buffer.from(name), name.toLowerCase(), ++last, now, now);
    setNumber.run(last);
    count.run(parentId);
    record.run(now, userId, id, JSON.stringify([...way, id]), JSON.stringify({ name }));
    commit.run();
    return before + id + after;
  };
}
