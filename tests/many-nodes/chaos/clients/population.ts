/** Creates the clients of a run, their folders and their users before the load starts. */

import { mutation, type Variables } from '../../../support/graph-testbed.ts';
import { administrator } from '../../node-process.ts';
import { ChaosClient, type Account, type ChaosWorld } from './chaos-client.ts';
import { SharedFolderWriter } from './shared-folder-writer.ts';
import { FolderWriter } from './folder-writer.ts';
import { EventFollower } from './event-follower.ts';
import type { Follower } from './follower.ts';
import { Poller } from './poller.ts';
import type { Random } from '../random.ts';
import { Reader } from './reader.ts';
import { logIn, Refresher } from './refresher.ts';
import { UserManager } from './user-manager.ts';
import { AccessManager, type Guest } from './access-manager.ts';
import { Subscriber } from './subscriber.ts';
import { Visitor } from './visitor.ts';

export interface Population {
  readonly writers: readonly FolderWriter[];
  readonly sharedWriters: readonly SharedFolderWriter[];
  readonly accessManager: AccessManager;
  readonly userManager: UserManager;
  readonly refreshers: readonly Refresher[];
  readonly visitors: readonly Visitor[];
  readonly readers: readonly Reader[];
  readonly followers: readonly Follower[];
  /** For the checks at the end. */
  readonly admin: ChaosClient;
  readonly adminToken: string;
  /** The first cursor of the followers. */
  readonly startCursor: string;
  close(): void;
}

const counts = { writers: 4, commoners: 2, guests: 3, refreshers: 5, visitors: 2, readers: 2, shelves: 3 };

export async function populate(world: ChaosWorld, random: Random): Promise<Population> {
  const clients: ChaosClient[] = [];
  const clientOf = (name: string) => {
    const client = new ChaosClient(world, name, random.fork());
    clients.push(client);
    return client;
  };
  const admin = clientOf('admin');
  const { authToken } = await logIn(admin, administrator);
  const run = async <Payload>(name: string, input: Variables, selection: string) =>
    (await admin.query<Record<string, Payload>>(mutation(name, selection), { input }, authToken))[name]!;
  const createFolder = async (name: string, parentId?: string) =>
    (await run<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}')).folder.id;
  const createUser = async (name: string, isAdministrator = false) => {
    const credentials = { username: name, password: `walnut cabin ${name}` };
    const input = { ...credentials, isAdministrator };
    const { user } = await run<{ user: { id: string } }>('createUser', input, 'user{id}');
    return { userId: user.id, credentials };
  };
  const createAccount = async (name: string, isAdministrator = false): Promise<Account> => {
    const { userId, credentials } = await createUser(name, isAdministrator);
    return { userId, authToken: (await logIn(admin, credentials)).authToken };
  };
  const grant = (folderId: string, userId: string, level: string) =>
    run('grantAccess', { folderId, userId, level }, '__typename');
  /** Creates numbered items one after the other. */
  const each = async <T>(count: number, name: string, make: (name: string) => Promise<T>) => {
    const made: T[] = [];
    for (let number = 1; number <= count; number++) made.push(await make(`${name} ${number}`));
    return made;
  };
  const owner = async (name: string, topId: string) => {
    const account = await createAccount(name);
    await grant(topId, account.userId, 'MANAGE');
    return account;
  };

  const writers = await each(counts.writers, 'writer', async (name) => {
    const topId = await createFolder(name);
    return new FolderWriter(clientOf(name), await owner(name, topId), topId);
  });
  const commonsId = await createFolder('commons');
  const sharedWriters = await each(
    counts.commoners,
    'commoner',
    async (name) => new SharedFolderWriter(clientOf(name), await owner(name, commonsId), commonsId),
  );
  const shelvesId = await createFolder('shelves');
  const shelfIds = await each(counts.shelves, 'shelf', (name) => createFolder(name, shelvesId));
  const guests = await each(counts.guests, 'guest', async (name): Promise<Guest> => ({
    name,
    ...(await createAccount(name)),
  }));
  const account = await createAccount('steward', true);
  const accessManager = new AccessManager(clientOf('steward'), {
    account,
    guests,
    topId: shelvesId,
    shelfIds,
  });
  const userManager = new UserManager(clientOf('registrar'), await createAccount('registrar', true));
  const refreshers = await each(
    counts.refreshers,
    'refresher',
    async (name) => new Refresher(clientOf(name), (await createUser(name)).credentials),
  );
  const visitors = await each(
    counts.visitors,
    'visitor',
    async (name) => new Visitor(clientOf(name), (await createUser(name)).credentials),
  );
  const { folder } = await admin.query<{ folder: { id: string } }>('{folder{id}}', {}, authToken);
  const onlooker = await createAccount('onlooker');
  await grant(folder.id, onlooker.userId, 'READ');
  const readers = await each(counts.readers, 'reader', (name) =>
    Promise.resolve(new Reader(clientOf(name), onlooker)),
  );
  const { cursor } = await admin.query<{ cursor: string }>('{cursor}', {}, authToken);
  const watchful = { userId: '', authToken };
  const { topId: under } = writers[0]!;
  const followers = [
    new Subscriber(clientOf('subscriber 1'), { account: watchful, cursor }),
    new Subscriber(clientOf('subscriber 2'), { account: watchful, cursor }),
    new Subscriber(clientOf('subscriber 3'), { account: onlooker, cursor }),
    new Subscriber(clientOf('subscriber of one folder'), { account: onlooker, cursor, under }),
    new EventFollower(clientOf('follower of events'), { account: watchful, cursor }),
    new Poller(clientOf('poller'), { account: onlooker, cursor }),
  ];
  return {
    writers,
    sharedWriters,
    accessManager,
    userManager,
    refreshers,
    visitors,
    readers,
    followers,
    admin,
    adminToken: authToken,
    startCursor: cursor,
    close: () => clients.forEach((client) => client.close()),
  };
}
