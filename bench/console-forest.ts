/** A tree of many folders, a tenth of them on one level, and somebody to look at it. */

import { importBatch, plantEstate, type Ask } from '../tests/large-tree/estate.ts';
import { shapeEstate } from '../tests/large-tree/tree-shape.ts';
import type { Credentials } from '../tests/api-client.ts';
import type { ScenarioOptions } from './scenario.ts';
import type { ServerProcess } from './server-process.ts';

export interface Forest {
  readonly url: string;
  readonly person: Credentials;
  readonly folderCount: number;
  readonly levelName: string;
  readonly levelCount: number;
  /** The name of the first on the level. */
  readonly firstName: string;
  readonly deepId: string;
  readonly deepName: string;
  /** Among its siblings, from 1. */
  readonly deepPlace: number;
}

/** Before the estate, in natural order: it is in sight at once. */
const levelName = 'Correspondence';
const deepPart = 0.93512;

export async function plantForest(
  server: ServerProcess,
  { folders, note }: Pick<ScenarioOptions, 'folders' | 'note'>,
): Promise<Forest> {
  const ask: Ask = (query, variables = {}) => server.ask(query, variables);
  const levelCount = Math.round(folders / 10);
  const start = performance.now();
  const { createFolder } = await ask<{ createFolder: { folder: { id: string } } }>(
    'mutation($name: String!){createFolder(input: {name: $name}){folder{id}}}',
    { name: levelName },
  );
  const letters = Array.from({ length: levelCount }, (_, place) => ({
    name: letterAt(place + 1),
    folders: [],
  }));
  await importBatch(ask, createFolder.folder.id, letters);
  await plantEstate(ask, shapeEstate(folders - levelCount - 1));
  note(
    `${folders.toLocaleString('en')} folders planted in ${((performance.now() - start) / 1000).toFixed(0)} s`,
  );
  const person = { username: 'gardener', password: 'walnut cabin orchard' };
  await ask('mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}', {
    input: { ...person, isAdministrator: true },
  });
  const deepPlace = Math.ceil(levelCount * deepPart);
  const { folder } = await ask<{ folder: { id: string } }>('query($path: String){folder(path: $path){id}}', {
    path: `/${levelName}/${letterAt(deepPlace)}`,
  });
  return {
    url: server.url,
    person,
    folderCount: folders,
    levelName,
    levelCount,
    firstName: letterAt(1),
    deepId: folder.id,
    deepName: letterAt(deepPlace),
    deepPlace,
  };
}

function letterAt(place: number): string {
  return `Letter ${place}`;
}
