/** An import of 100,000 folders against one bare transaction of the same rows. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { treeCpuMicroseconds } from '../sizing-processes.ts';
import type { ImportInput, ImportUse } from './bare-import.ts';
import { BareProcess } from './bare-process.ts';
import { copySqlite, readRows } from './bare-sqlite.ts';
import { OurServer, temporaryFolder } from './our-server.ts';
import type { Contestant } from './contestant.ts';
import { compete, type Field, type Race } from './race.ts';

const race: Race = {
  name: 'import',
  about: 'import of 100,000 folders by their paths, as the command line sends them',
  floor: 'bare SQLite bulk insert of the same rows, in one transaction',
  atLeast: 0.3,
  aim: 0.5,
};

const folders = 100_000;
const mostRounds = 3;
const width = 100;

export const importField: Field = {
  name: 'imports',
  entries: [race],
  async *run(_, course) {
    const folder = temporaryFolder();
    const server = await OurServer.start(course);
    const bare = BareProcess.launch(course);
    try {
      const rounds = Math.min(mostRounds, course.rounds);
      const parentIds: string[] = [];
      for (let round = 1; round <= rounds; round++)
        parentIds.push(await makeFolder(server, `Import ${round}`));
      const copy = join(folder, 'copy.db');
      copySqlite(server.file, copy);
      const { ours, floor } = sides({ server, bare, copy, parentIds });
      yield await compete(race, { ours, floor, requests: folders, warmUp: 0 }, { ...course, rounds });
    } finally {
      await bare.stop();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Each import goes into a folder of its own; the floor takes the rows of it, and its files grow alike. */
function sides(parts: { server: OurServer; bare: BareProcess; copy: string; parentIds: readonly string[] }) {
  const { server, bare, copy } = parts;
  const parentIds = parts.parentIds.values();
  let imported: Omit<ImportInput, 'from' | 'into'> | undefined;
  const ours: Contestant = {
    async fire(requests) {
      const parentId = parentIds.next().value!;
      const list = pathsOf(requests);
      imported = { parentId, ...lastNumbers(server.file) };
      const query = 'mutation($input: ImportFoldersInput!){importFolders(input: $input){folderCount}}';
      const before = treeCpuMicroseconds(server.pid);
      const start = performance.now();
      const answer = await server.ask<{ importFolders: { folderCount: number } }>(query, {
        input: { parentId, list },
      });
      const elapsedMs = performance.now() - start;
      const cpuMicroseconds = treeCpuMicroseconds(server.pid) - before;
      if (answer.importFolders.folderCount !== requests) throw new Error('Not all of them were imported.');
      return { requests, elapsedMs, cpuMicroseconds };
    },
  };
  const floor: Contestant = {
    async fire(requests) {
      const input: ImportInput = { ...imported!, from: server.file, into: copy };
      const { cpuMicroseconds, elapsedMs, folders: made } = await bare.ask<ImportUse>('importRows', input);
      if (made !== requests) throw new Error(`The floor inserted ${made} rows instead of ${requests}.`);
      return { requests, elapsedMs, cpuMicroseconds };
    },
  };
  return { ours, floor };
}

async function makeFolder(server: OurServer, name: string): Promise<string> {
  const { createFolder } = await server.ask<{ createFolder: { folder: { id: string } } }>(
    'mutation($name: String!){createFolder(input: {name: $name}){folder{id}}}',
    { name },
  );
  return createFolder.folder.id;
}

function lastNumbers(file: string): { afterFolder: number; afterEntry: number } {
  const query =
    'select last as "afterFolder", number as "afterEntry" from folder_numbers cross join journal_counter';
  return readRows<{ afterFolder: number; afterEntry: number }>(file, query)[0]!;
}

/** Houses with rooms: in a hundred folders one has the others inside. */
function pathsOf(count: number): { path: string; title: string }[] {
  return Array.from({ length: count }, (_, index) => {
    const house = `House ${Math.floor(index / width) + 1}`;
    const room = index % width;
    const path = room === 0 ? house : `${house}/Room ${room}`;
    return { path, title: `Number ${index + 1}` };
  });
}
