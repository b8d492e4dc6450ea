/** The tree that is read: ten folders with ten folders each, and one of these with many. And what is read of it. */

import type { FolderText, TextParameters } from '../../server/src/folders/folder-text.ts';
import type { Credentials } from '../../tests/api-client.ts';
import type { OurServer } from './our-server.ts';
import type { Race } from './race.ts';

export interface Estate {
  readonly rootId: string;
  readonly pageFolderId: string;
}

export interface Read {
  readonly name: string;
  readonly about: string;
  readonly query: (estate: Estate) => string;
  /** The answer, as the database can write it. */
  readonly text: FolderText;
  readonly parametersIn: (estate: Estate) => Omit<TextParameters, 'accessNumber'>;
  /** In each round, and of each side. */
  readonly requests: number;
}

interface PlantedFolder {
  readonly name: string;
  readonly title?: string;
  readonly folders: readonly PlantedFolder[];
}

const width = 10;
/** As the contract shows it: every sub-folder, without a page. */
const inside = (selection: string) => `folders{edges{node{${selection}}}}`;
const most = 1_000;
const name = { value: 'name' } as const;
const insideText = (each: FolderText, limit: string): FolderText => [
  '"folders":{"edges":[',
  { each: ['{"node":{"name":', ...each, '}}'], limit, most },
  ']}',
];
const wholeText = (...inside: FolderText): FolderText => ['{"data":{"folder":{', ...inside, '}}}'];

export const reads: readonly Read[] = [
  {
    name: 'root',
    about: '{folder{name}}',
    query: () => '{folder{name}}',
    text: wholeText('"name":', name),
    parametersIn: ({ rootId }) => ({ id: rootId }),
    requests: 5_000,
  },
  {
    name: 'children',
    about: 'a folder and its 10 sub-folders by name',
    query: () => `{folder{name ${inside('name')}}}`,
    text: wholeText('"name":', name, ',', ...insideText([name], 'limit')),
    parametersIn: ({ rootId }) => ({ id: rootId, limit: most }),
    requests: 5_000,
  },
  {
    name: 'levels',
    about: '111 folders on three levels by name',
    query: () => `{folder{name ${inside(`name ${inside('name')}`)}}}`,
    text: wholeText(
      '"name":',
      name,
      ',',
      ...insideText([name, ',', ...insideText([name], 'innerLimit')], 'limit'),
    ),
    parametersIn: ({ rootId }) => ({ id: rootId, limit: most, innerLimit: most }),
    requests: 1_500,
  },
  {
    name: 'page',
    about: 'the first 50 of 10,000 sub-folders, with id, name, title and totalCount',
    query: ({ pageFolderId }) =>
      `{folder(id:"${pageFolderId}"){folders(first:50){totalCount edges{node{id name title}}}}}`,
    text: wholeText(
      '"folders":{"totalCount":',
      { value: 'childCount' },
      ',"edges":[',
      {
        each: ['{"node":{"id":', { value: 'id' }, ',"name":', name, ',"title":', { value: 'title' }, '}}'],
        limit: 'limit',
        most,
      },
      ']}',
    ),
    parametersIn: ({ pageFolderId }) => ({ id: pageFolderId, limit: 50 }),
    requests: 1_500,
  },
];

export function racesOf(choice: {
  readonly prefix: string;
  readonly floor: string;
  readonly targets?: Readonly<Record<string, { readonly atLeast: number; readonly aim: number }>>;
  readonly where: string;
}): (Race & { readonly read: Read })[] {
  return reads.map((read) => ({
    name: choice.prefix + read.name,
    about: read.about + choice.where,
    floor: choice.floor,
    ...choice.targets?.[read.name],
    read,
  }));
}

/** With so many folders on the one level that is read by pages. */
export async function plantEstate(server: OurServer, levelCount: number): Promise<Estate> {
  const letters = times(levelCount, (place) => ({
    name: `Letter ${place}`,
    title: `To the tenants, no. ${place}`,
    folders: [],
  }));
  const tree = times(width, (region) => ({
    name: `Region ${region}`,
    folders: times(width, (town) => ({
      name: `Town ${town}`,
      folders: region === 1 && town === 1 ? letters : [],
    })),
  }));
  await server.ask('mutation($tree: [ImportedFolder!]){importFolders(input: {tree: $tree}){folderCount}}', {
    tree,
  });
  const { root, page } = await server.ask<Record<'root' | 'page', { id: string }>>(
    '{root: folder{id} page: folder(path: "/Region 1/Town 1"){id}}',
  );
  return { rootId: root.id, pageFolderId: page.id };
}

/** Somebody who may read all of it, and is no administrator. */
export async function inviteReader(server: OurServer, { rootId }: Estate): Promise<Credentials> {
  const reader = { username: 'reader', password: 'walnut cabin orchard' };
  const { createUser } = await server.ask<{ createUser: { user: { id: string } } }>(
    'mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}',
    { input: reader },
  );
  await server.ask('mutation($input: GrantAccessInput!){grantAccess(input: $input){folder{id}}}', {
    input: { folderId: rootId, userId: createUser.user.id, level: 'READ' },
  });
  return reader;
}

function times(count: number, make: (place: number) => PlantedFolder): PlantedFolder[] {
  return Array.from({ length: count }, (_, index) => make(index + 1));
}
