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

const counts = {
  writers: 4,
  sharedWriters: 2,
  guests: 3,
  refreshers: 5,
  visitors: 2,
  readers: 2,
  shelves: 3,
};

export async function populate(world: ChaosWorld, random: Random): Promise<Population> {
  const clients: ChaosClient[] = [];
  const createClient = (name: string) => {
    const client = new ChaosClient(world, name, random.fork());
    clients.push(client);
    return client;
  };
  const admin = createClient('admin');
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
  const createEach = async <T>(count: number, name: string, create: (name: string) => Promise<T>) => {
    const items: T[] = [];
    for (let number = 1; number <= count; number++) items.push(await create(`${name} ${number}`));
    return items;
  };
  const createOwner = async (name: string, topId: string) => {
    const account = await createAccount(name);
    await grant(topId, account.userId, 'MANAGE');
    return account;
  };

  const writers = await createEach(counts.writers, 'writer', async (name) => {
    const topId = await createFolder(name);
    return new FolderWriter(createClient(name), await createOwner(name, topId), topId);
  });
  const sharedFolderId = await createFolder('shared');
  const sharedWriters = await createEach(
    counts.sharedWriters,
    'shared writer',
    async (name) =>
      new SharedFolderWriter(createClient(name), await createOwner(name, sharedFolderId), sharedFolderId),
  );
  const shelvesId = await createFolder('shelves');
  const shelfIds = await createEach(counts.shelves, 'shelf', (name) => createFolder(name, shelvesId));
  const guests = await createEach(counts.guests, 'guest', async (name): Promise<Guest> => ({
    name,
    ...(await createAccount(name)),
  }));
  const account = await createAccount('access manager', true);
  const accessManager = new AccessManager(createClient('access manager'), {
    account,
    guests,
    topId: shelvesId,
    shelfIds,
  });
  const userManager = new UserManager(
    createClient('user manager'),
    await createAccount('user manager', true),
  );
  const refreshers = await createEach(
    counts.refreshers,
    'refresher',
    async (name) => new Refresher(createClient(name), (await createUser(name)).credentials),
  );
  const visitors = await createEach(
    counts.visitors,
    'visitor',
    async (name) => new Visitor(createClient(name), (await createUser(name)).credentials),
  );
  const { folder } = await admin.query<{ folder: { id: string } }>('{folder{id}}', {}, authToken);
  const readerAccount = await createAccount('reader of everything');
  await grant(folder.id, readerAccount.userId, 'READ');
  const readers = await createEach(counts.readers, 'reader', (name) =>
    Promise.resolve(new Reader(createClient(name), readerAccount)),
  );
  const { cursor } = await admin.query<{ cursor: string }>('{cursor}', {}, authToken);
  const adminAccount = { userId: '', authToken };
  const { topId: under } = writers[0]!;
  const followers = [
    new Subscriber(createClient('subscriber 1'), { account: adminAccount, cursor }),
    new Subscriber(createClient('subscriber 2'), { account: adminAccount, cursor }),
    new Subscriber(createClient('subscriber 3'), { account: readerAccount, cursor }),
    new Subscriber(createClient('subscriber of one folder'), { account: readerAccount, cursor, under }),
    new EventFollower(createClient('follower of events'), { account: adminAccount, cursor }),
    new Poller(createClient('poller'), { account: readerAccount, cursor }),
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
