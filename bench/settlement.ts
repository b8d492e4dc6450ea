/** People who may see one folder: most by a grant of their own, some by one of their group, a few as administrators. */

import type { ServerProcess } from './server-process.ts';

export interface Inhabitant {
  readonly authToken: string;
  readonly folderId: string;
}

export interface Settlement {
  readonly folderId: string;
  readonly inhabitants: readonly Inhabitant[];
  /** Of somebody else, to a folder that no inhabitant sees. */
  readonly changeAccess: () => Promise<void>;
}

export async function settle(server: ServerProcess, people: number): Promise<Settlement> {
  const run = async <Payload>(name: string, input: object, selection = '__typename'): Promise<Payload> => {
    const inputType = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
    const query = `mutation($input: ${inputType}!){${name}(input: $input){${selection}}}`;
    return (await server.ask<Record<string, Payload>>(query, { input }))[name]!;
  };
  const makeFolder = async (name: string, parentId?: string) =>
    (await run<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}')).folder.id;

  const folderId = await makeFolder('commons', await makeFolder('village'));
  const { group } = await run<{ group: { id: string } }>('createGroup', { name: 'villagers' }, 'group{id}');
  await run('grantAccess', { folderId, groupId: group.id, level: 'READ' });

  const inhabitants: Inhabitant[] = [];
  for (let number = 0; number < people; number++) {
    const person = { username: `villager ${number}`, password: `walnut cabin ${number}` };
    const isAdministrator = number % 25 === 0;
    const input = { ...person, isAdministrator };
    const { user } = await run<{ user: { id: string } }>('createUser', input, 'user{id}');
    if (number % 5 === 1) await run('addToGroup', { groupId: group.id, userIds: [user.id] });
    else if (!isAdministrator) await run('grantAccess', { folderId, userId: user.id, level: 'READ' });
    inhabitants.push({ authToken: await server.logIn(person), folderId });
  }

  const elsewhere = await makeFolder('elsewhere');
  const stranger = { username: 'stranger', password: 'walnut cabin elsewhere' };
  const { user } = await run<{ user: { id: string } }>('createUser', stranger, 'user{id}');
  let changes = 0;
  const changeAccess = () =>
    run<void>('grantAccess', {
      folderId: elsewhere,
      userId: user.id,
      level: changes++ % 2 === 0 ? 'READ' : 'WRITE',
    });
  return { folderId, inhabitants, changeAccess };
}
