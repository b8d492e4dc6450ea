/** Makes a small tree a large one, below what is read of it: straight into the tables, as fast as that goes. */

import { newFolderIds } from '../../server/src/folders/folder-id.ts';
import { newRow } from '../../server/src/folders/folder-rows.ts';
import { openBareSqlite } from './bare-sqlite.ts';

const width = 100;

interface Named {
  readonly name: string;
  readonly sql: string;
}

/** Adds `count` folders on two levels below each of the folders on the third level, but the one that is paged through. */
export function growEstate(
  file: string,
  { pageFolderId, count }: { pageFolderId: string; count: number },
): void {
  const connection = openBareSqlite(file);
  connection.pragma('synchronous = off');
  connection.pragma('cache_size = -500000');
  // Made anew at the end, which takes a fraction of the time.
  const indexes = connection
    .prepare(
      `select name, sql from sqlite_schema where type = 'index' and tbl_name = 'folders' and sql is not null`,
    )
    .all() as Named[];
  const towns = connection
    .prepare(
      `select town.id from folders as town join folders as region on town.parent_id = region.id
      join folders as root on region.parent_id = root.id
      where root.parent_id is null and root.detached_at is null and town.id <> ?`,
    )
    .pluck()
    .all(pageFolderId) as string[];
  connection.exec('begin immediate');
  for (const { name } of indexes) connection.exec(`drop index ${name}`);
  const insert = connection.prepare(
    `insert into folders (id, parent_id, name, sort_key, folded_name, child_count, height, number, version, created_at,
      updated_at) values (@id, @parentId, @name, @sortKey, @foldedName, @childCount, @height, @number, 1, @now, @now)`,
  );
  const setInside = connection.prepare('update folders set child_count = ?, height = 2 where id = ?');
  let number = connection.prepare('select last from folder_numbers').pluck().get() as number;
  let left = count;
  const now = Date.now();
  const nextId = newFolderIds(now);
  const perTown = Math.ceil(count / towns.length);
  for (const town of towns) {
    let rest = Math.min(perTown, left);
    left -= rest;
    let houses = 0;
    while (rest > 0) {
      const rooms = Math.min(width, rest - 1);
      rest -= rooms + 1;
      const house = newRow({ parentId: town, name: `House ${++houses}` }, now, nextId());
      insert.run({ ...house, number: ++number, childCount: rooms, height: rooms > 0 ? 1 : 0 });
      for (let place = 1; place <= rooms; place++) {
        insert.run({
          ...newRow({ parentId: house.id, name: `Room ${place}` }, now, nextId()),
          number: ++number,
        });
      }
    }
    setInside.run(houses, town);
  }
  for (const { sql } of indexes) connection.exec(sql);
  connection.prepare('update folder_numbers set last = ?').run(number);
  connection.exec('commit');
  connection.pragma('wal_checkpoint(truncate)');
  connection.close();
}
