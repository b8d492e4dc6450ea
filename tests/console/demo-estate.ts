/** A small estate with people in it, for tests of the console and for its pictures: the same at every start. */

import type { GraphTestbed } from '../support/graph-testbed.ts';

export const peopleNames = ['ada', 'grace', 'linus', 'margaret', 'tim'] as const;
export type PersonName = (typeof peopleNames)[number];

export interface DemoEstate {
  /** Of everybody but the administrator. */
  readonly password: string;
  readonly userIds: Readonly<Record<PersonName, string>>;
  readonly groupIds: Readonly<Record<'Caretakers' | 'Auditors', string>>;
  idOf(path: string): Promise<string>;
}

/** How many letters are in /Correspondence: more than a screen, or a page of the server, can hold. */
export const letterCount = 3_000;

const roomsOn = (floor: number) =>
  Array.from({ length: 8 }, (_, place) => ({
    name: `Room ${floor}.0${place + 1}`,
    ...(place === 0 && { folders: [{ name: 'Furniture' }, { name: 'Inspections' }] }),
  }));
const floors = (count: number) =>
  Array.from({ length: count }, (_, place) => ({ name: `Floor ${place + 1}`, folders: roomsOn(place + 1) }));
const named = (...names: string[]) => names.map((name) => ({ name }));

const tree = [
  {
    name: 'Places',
    icon: '⌂',
    description: 'All sites, by campus.',
    folders: [
      {
        name: 'Harbour Campus',
        title: 'Harbour Campus (Rotterdam)',
        icon: '⚓',
        description: 'The oldest site, on the north quay. Ask the porter for the keys of the boathouse.',
        properties: {
          city: 'Rotterdam',
          opened: 1987,
          tags: ['flagship', 'listed'],
          contact: { name: 'Ada', phone: '+31 10 555 01' },
        },
        folders: floors(11),
      },
      { name: 'Hill Campus', icon: '▲', folders: floors(4) },
      { name: 'Old Mill', description: 'Empty since the flood.' },
      { name: 'Boathouse', folders: named('Oars') },
    ],
  },
  {
    name: 'Projects',
    icon: '✦',
    folders: [
      { name: 'Library move', folders: named('Crates', 'Shelf plan') },
      { name: 'Roof 2027', folders: named('Bids', 'Drawings') },
      { name: 'Zero waste' },
    ],
  },
  {
    name: 'Archive',
    icon: '▤',
    folders: named(...Array.from({ length: 40 }, (_, year) => `${1987 + year}`)),
  },
  { name: 'Suppliers', folders: named('Acme Lifts', 'Blue Paint', 'Cobalt Glass', 'Delta Drains') },
  {
    name: 'Correspondence',
    icon: '✉',
    folders: named(...Array.from({ length: letterCount }, (_, place) => `Letter ${place + 1}`)),
  },
];

const grants = [
  ['/Places', { group: 'Caretakers' }, 'READ'],
  ['/Places/Harbour Campus', { user: 'ada' }, 'MANAGE'],
  ['/Places/Harbour Campus/Floor 2', { user: 'linus' }, 'NONE'],
  ['/Projects', { user: 'ada' }, 'WRITE'],
  ['/Archive', { group: 'Auditors' }, 'READ'],
] as const;

export async function plantDemo(graph: GraphTestbed): Promise<DemoEstate> {
  // So that times differ in what is shown of them.
  const laterOn = () => graph.testbed.clock.advanceSeconds(7);
  const idOf = async (path: string) => {
    const query = 'query($path: String){folder(path: $path){id}}';
    return (await graph.query<{ folder: { id: string } }>(query, { path })).folder.id;
  };
  await graph.mutate('importFolders', { tree });
  const password = 'ripe medlar on a wall';
  const userIds = {} as Record<PersonName, string>;
  for (const username of peopleNames) {
    laterOn();
    const { user } = await graph.mutate<{ user: { id: string } }>(
      'createUser',
      { username, password },
      'user{id}',
    );
    userIds[username] = user.id;
  }
  const groupIds = {} as Record<'Caretakers' | 'Auditors', string>;
  for (const name of ['Caretakers', 'Auditors'] as const) {
    laterOn();
    const { group } = await graph.mutate<{ group: { id: string } }>('createGroup', { name }, 'group{id}');
    groupIds[name] = group.id;
  }
  await graph.mutate('addToGroup', {
    groupId: groupIds.Caretakers,
    userIds: [userIds.grace, userIds.linus],
  });
  for (const [path, who, level] of grants) {
    laterOn();
    const grantee = 'user' in who ? { userId: userIds[who.user] } : { groupId: groupIds[who.group] };
    await graph.mutate('grantAccess', { folderId: await idOf(path), ...grantee, level });
  }
  await graph.mutate('deleteFolder', { id: await idOf('/Places/Boathouse'), recursive: true });
  laterOn();
  await graph.mutate('updateUser', { id: userIds.tim, isDisabled: true });
  return { password, userIds, groupIds, idOf };
}
