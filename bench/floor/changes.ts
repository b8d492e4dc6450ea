/** New folders against one bare transaction of the same rows. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CreateInput } from './bare-create.ts';
import { copySqlite, readRows } from './bare-sqlite.ts';
import { plantEstate } from './estate.ts';
import { numberMark } from './volley.ts';
import { meet } from './meeting.ts';
import { OurServer, temporaryFolder } from './our-server.ts';
import type { Course, Field, Race, RaceOutcome } from './race.ts';

const create: Race = {
  name: 'create',
  about: 'createFolder, durable and journalled',
  floor: 'raw node:http, one bare synced SQLite transaction of the same rows',
  atLeast: 0.45,
  aim: 0.6,
};

const foldersInRound = 300;
const query = 'mutation($input: CreateFolderInput!){createFolder(input: $input){folder{id}}}';

export const changeField: Field = {
  name: 'changes',
  entries: [create],
  async *run(_, course) {
    const server = await OurServer.start(course);
    const folder = temporaryFolder();
    try {
      yield await raceCreations(server, join(folder, 'copy.db'), course);
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function raceCreations(server: OurServer, copy: string, course: Course): Promise<RaceOutcome> {
  const { pageFolderId: parentId } = await plantEstate(server, 1);
  const input = { parentId, name: `Folder ${numberMark}` };
  const asked = await server.graphRequest({ query, variables: { input } });
  copySqlite(server.file, copy);
  const [user] = readRows<{ id: string }>(server.file, 'select id from users');
  const { folder } = await server.ask<{ folder: { ancestors: { id: string }[] } }>(
    `{folder(id: "${parentId}"){ancestors{id}}}`,
  );
  const way = [...folder.ancestors.map(({ id }) => id), parentId];
  const bare: CreateInput = { file: copy, parentId, userId: user!.id, way };
  const outcome = await meet(
    create,
    {
      server,
      asked,
      requests: foldersInRound,
      toFloor: (answer) => ({ kind: 'create', answer, ...bare }),
      varied: { isNumbered: true },
    },
    course,
  );
  requireSameRows(server.file, copy);
  return outcome;
}

/** One folder more is of ours: that whose answer was recorded. */
function requireSameRows(ours: string, floor: string): void {
  for (const table of ['folders', 'journal', 'folder_trigrams_docsize']) {
    const query = `select count(*) as count from ${table}`;
    const [mine, other] = [ours, floor].map((file) => readRows<{ count: number }>(file, query)[0]!.count);
    if (mine !== other! + 1)
      throw new Error(`create: ours has ${mine} rows in ${table}, the floor ${other}.`);
  }
}
