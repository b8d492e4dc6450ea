/** A small tree with users for console tests and screenshots. It is the same at every start. */

import type { GraphTestbed } from '../support/graph-testbed.ts';

export const peopleNames = ['ada', 'grace', 'linus', 'margaret', 'tim'] as const;
export type PersonName = (typeof peopleNames)[number];

export interface DemoData {
  /** The password of all users except the administrator. */
  readonly password: string;
  readonly userIds: Readonly<Record<PersonName | 'robot', string>>;
  readonly groupIds: Readonly<Record<'Caretakers' | 'Auditors', string>>;
  idOf(path: string): Promise<string>;
}

/** The number of folders in /Correspondence: more than a screen or a page of the server. */
export const letterCount = 3_000;

const roomsOn = (floor: number) =>
  Array.from({ length: 8 }, (_, index) => ({
    name: `Room ${floor}.0${index + 1}`,
    ...(index === 0 && { folders: [{ name: 'Furniture' }, { name: 'Inspections' }] }),
  }));
const floors = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `Floor ${index + 1}`, folders: roomsOn(index + 1) }));
const namedFolders = (...names: string[]) => names.map((name) => ({ name }));

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
      { name: 'Boathouse', folders: namedFolders('Oars') },
    ],
  },
  {
    name: 'Projects',
    icon: '✦',
    folders: [
      { name: 'Library move', folders: namedFolders('Crates', 'Shelf plan') },
      { name: 'Roof 2027', folders: namedFolders('Bids', 'Drawings') },
      { name: 'Zero waste' },
    ],
  },
  {
    name: 'Archive',
    icon: '▤',
    folders: namedFolders(...Array.from({ length: 40 }, (_, year) => `${1987 + year}`)),
  },
  { name: 'Suppliers', folders: namedFolders('Acme Lifts', 'Blue Paint', 'Cobalt Glass', 'Delta Drains') },
  {
    name: 'Correspondence',
    icon: '✉',
    folders: namedFolders(...Array.from({ length: letterCount }, (_, index) => `Letter ${index + 1}`)),
  },
];

const grants = [
  ['/Places', { group: 'Caretakers' }, 'READ'],
  ['/Places/Harbour Campus', { user: 'ada' }, 'MANAGE'],
  ['/Places/Harbour Campus/Floor 2', { user: 'linus' }, 'NONE'],
  ['/Projects', { user: 'ada' }, 'WRITE'],
  ['/Archive', { group: 'Auditors' }, 'READ'],
] as const;

export async function createDemo(graph: GraphTestbed): Promise<DemoData> {
  // Makes the displayed times differ.
  const advanceClock = () => graph.server.clock.advanceSeconds(7);
  const idOf = async (path: string) => {
    const query = 'query($path: String){folder(path: $path){id}}';
    return (await graph.query<{ folder: { id: string } }>(query, { path })).folder.id;
  };
  await graph.mutate('importFolders', { tree });
  const password = 'ripe medlar on a wall';
  const userIds = {} as Record<PersonName | 'robot', string>;
  for (const username of peopleNames) {
    advanceClock();
    const { user } = await graph.mutate<{ user: { id: string } }>(
      'createUser',
      { username, password },
      'user{id}',
    );
    userIds[username] = user.id;
  }
  const groupIds = {} as Record<'Caretakers' | 'Auditors', string>;
  for (const name of ['Caretakers', 'Auditors'] as const) {
    advanceClock();
    const { group } = await graph.mutate<{ group: { id: string } }>('createGroup', { name }, 'group{id}');
    groupIds[name] = group.id;
  }
  await graph.mutate('addToGroup', {
    groupId: groupIds.Caretakers,
    userIds: [userIds.grace, userIds.linus],
  });
  for (const [path, who, level] of grants) {
    advanceClock();
    const grantee = 'user' in who ? { userId: userIds[who.user] } : { groupId: groupIds[who.group] };
    await graph.mutate('grantAccess', { folderId: await idOf(path), ...grantee, level });
  }
  await graph.mutate('deleteFolder', { id: await idOf('/Places/Boathouse'), recursive: true });
  advanceClock();
  await graph.mutate('updateUser', { id: userIds.tim, isDisabled: true });
  advanceClock();
  userIds.robot = await createServiceAccount(graph, await idOf('/Places/Hill Campus'));
  return { password, userIds, groupIds, idOf };
}

/** Creates the service account "robot" with an active and a revoked API key. Returns the id of the user. */
async function createServiceAccount(graph: GraphTestbed, folderId: string): Promise<string> {
  const input = { kind: 'SERVICE', username: 'robot' };
  const { user } = await graph.mutate<{ user: { id: string } }>('createUser', input, 'user{id}');
  await graph.mutate('grantAccess', { folderId, userId: user.id, level: 'WRITE' });
  const createKey = async (key: object) => {
    const { apiKey } = await graph.mutate<{ apiKey: { id: string } }>(
      'createApiKey',
      { userId: user.id, level: 'READ', ...key },
      'apiKey{id}',
    );
    return apiKey.id;
  };
  await graph.mutate('revokeApiKey', { id: await createKey({ name: 'nightly export' }) }, 'apiKey{id}');
  await createKey({ name: 'sensors', level: 'WRITE', folderId, networks: ['10.20.0.0/16'] });
  return user.id;
}
