/**
 * Random operations on the tree, on rights and on watchers. The numbers of an operation select from the
 * objects that exist at run time.
 */

import fc from 'fast-check';
import type { Watcher } from './mirror-watcher.ts';
import type { MirrorWorld, Person, Subject, TreeFolder } from './mirror-world.ts';

export interface Operation {
  readonly kind: string;
  readonly by: number;
  readonly one: number;
  readonly two: number;
  readonly three: number;
}

interface OperationKind {
  /** The relative frequency. */
  readonly weight: number;
  run(world: MirrorWorld, operation: Operation): Promise<unknown>;
}

/** Indexes without a person select the administrator, because most people have few rights. */
const maxActor = 24;
const minFolders = 20;
const maxFolders = 70;
const trashDays = 31;

const operationKinds: Readonly<Record<string, OperationKind>> = {
  create: kind(8, async (world, { by, one }) => {
    if (world.tree.length > maxFolders) return;
    const parentId = pickFolder(world, one).id;
    await world.run(pickActor(world, by), 'createFolder', { parentId, name: world.newName() });
  }),
  update: kind(8, (world, { by, one, two }) => {
    const change = two % 2 === 0 ? { name: world.newName() } : { title: `title ${two}` };
    return world.run(pickActor(world, by), 'updateFolder', {
      id: pickFolderOrRoot(world, one).id,
      ...change,
    });
  }),
  move: kind(30, (world, { by, one, two, three }) => {
    const { id } = pickFolder(world, one);
    const outside = foldersOutside(world, id);
    const parentId = two % 10 === 0 ? world.rootId : (pick(outside, two)?.id ?? world.rootId);
    const name = three % 4 === 0 ? world.newName() : undefined;
    return world.run(pickActor(world, by), 'moveFolder', { id, parentId, name });
  }),
  duplicate: kind(6, async (world, { by, one, two }) => {
    if (world.tree.length > maxFolders) return;
    const [{ id }, parentId] = [pickFolder(world, one), pickFolderOrRoot(world, two).id];
    await world.run(pickActor(world, by), 'duplicateFolder', { id, parentId, name: world.newName() });
  }),
  delete: kind(10, async (world, { by, one }) => {
    const { id } = pickFolder(world, one);
    if (foldersOutside(world, id).length < minFolders) return;
    const payload = await world.run(pickActor(world, by), 'deleteFolder', { id, recursive: true });
    if (payload) world.trash.push(id);
  }),
  restore: kind(14, async (world, { by, one, two, three }) => {
    const id = pick(world.trash, one);
    if (!id) return;
    const parentId = three % 2 === 0 ? undefined : pickFolder(world, two).id;
    const name = three % 3 === 0 ? world.newName() : undefined;
    const payload = await world.run(pickActor(world, by), 'restoreFolder', { id, parentId, name });
    if (payload) world.trash.splice(world.trash.indexOf(id), 1);
  }),
  import: kind(6, async (world, { by, one, two, three }) => {
    if (world.tree.length > maxFolders) return;
    // Half of the names repeat in all imports, so that an import merges with an earlier one or with a part of
    // it.
    const name = three % 2 === 0 ? world.newName() : pick(['m', 'x'], three >> 1)!;
    const inner = { name: 'x', folders: [{ name: 'y', title: `title ${two}` }, { name: world.newName() }] };
    const tree = [{ name, folders: [inner, { name: 'z', folders: [{ name: 'x' }] }] }];
    const parentId = two % 8 === 0 ? undefined : pickFolder(world, one).id;
    const onExisting = pick(['FAIL', 'KEEP', 'UPDATE', 'UPDATE'], three >> 2);
    await world.run(pickActor(world, by), 'importFolders', { parentId, tree, onExisting });
  }),
  purge: kind(1, async (world) => {
    await world.testbed.purge(trashDays);
    world.trash.splice(0);
  }),
  grant: kind(14, (world, { by, one, two, three }) => {
    const level = ['READ', 'READ', 'WRITE', 'MANAGE', 'NONE'][three % 5]!;
    const { id: folderId } = three % 20 === 0 ? pickFolderOrRoot(world, 0) : pickFolder(world, one);
    return world.grant(pickActor(world, by), { folderId, subject: pickSubject(world, two) }, level);
  }),
  deny: kind(8, async (world, { one, two }) => {
    const person = pickPerson(world, two);
    const folder = pick(
      person.visibleFolders.filter(({ accessLevel }) => accessLevel !== 'NONE'),
      one,
    );
    if (!folder) return;
    const grant = { folderId: folder.id, subject: { userId: person.id } };
    await world.grant(world.administrator, grant, 'NONE');
  }),
  revoke: kind(20, async (world, { by, one }) => {
    const grant = pick(world.grants, one);
    if (!grant) return;
    const { folderId, subject } = grant;
    const payload = await world.run(pickActor(world, by), 'revokeAccess', { folderId, ...subject });
    if (payload) world.grants.splice(world.grants.indexOf(grant), 1);
  }),
  join: kind(4, (world, { one, two }) =>
    world.run(world.administrator, 'addToGroup', {
      groupId: pick(world.groupIds, one),
      userIds: [pickPerson(world, two).id],
    }),
  ),
  leave: kind(4, (world, { one, two }) =>
    world.run(world.administrator, 'removeFromGroup', {
      groupId: pick(world.groupIds, one),
      userIds: [pickPerson(world, two).id],
    }),
  ),
  disband: kind(1, async (world, { one }) => {
    const index = one % world.groupIds.length;
    await world.run(world.administrator, 'deleteGroup', { id: world.groupIds[index] });
    world.groupIds[index] = await world.createGroup(world.newName());
  }),
  promote: kind(3, async (world, { one }) => {
    // Mostly the same person, so that the others are rarely administrators.
    const person = one % 3 === 0 ? pickPerson(world, one) : world.people[2]!;
    const isAdministrator = !person.isAdministrator;
    await world.run(world.administrator, 'updateUser', { id: person.id, isAdministrator });
    person.isAdministrator = isAdministrator;
  }),
  disable: kind(2, async (world, { one }) => {
    const { id, isDisabled: wasDisabled } =
      world.people.find(({ isDisabled }) => isDisabled) ?? pickPerson(world, one);
    const isDisabled = !wasDisabled;
    if (!(await world.run(world.administrator, 'updateUser', { id, isDisabled }))) return;
    // The server closes the connections of a disabled user, and of the API keys of the user, in the same way.
    for (const person of world.people.filter((each) => each.id === id)) {
      person.isDisabled = isDisabled;
      for (const watcher of person.watchers) await (isDisabled ? watcher.disconnect() : watcher.reconnect());
    }
  }),
  replaceKey: kind(3, async (world, { one, two, three }) => {
    const viewer = pick(
      world.people.filter(({ apiKeyId, isDisabled }) => apiKeyId && !isDisabled),
      one,
    );
    if (!viewer) return;
    const level = ['READ', 'WRITE', 'MANAGE'][three % 3]!;
    for (const watcher of viewer.watchers) await watcher.disconnect();
    await world.replaceKey(viewer, { level, folderId: three % 5 === 0 ? null : pickFolder(world, two).id });
    await world.observe();
    for (const watcher of viewer.watchers) await watcher.open();
  }),
  disconnect: kind(10, async (world, { one }) => {
    const open = world.watchers.filter(({ isOpen }) => isOpen);
    await pick(open, one)?.disconnect();
  }),
  reconnect: kind(10, async (world, { one }) => {
    const enabled = world.people.filter(({ isDisabled }) => !isDisabled);
    const disconnected = enabled.flatMap(({ watchers }) => watchers).filter(({ isOpen }) => !isOpen);
    await pick(disconnected, one)?.reconnect();
  }),
  watchElsewhere: kind(5, async (world, { one, two }) => {
    const { watcher, person, slot } = pickWatcher(world, one);
    // The first two watchers of each person watch the whole tree.
    if (slot >= 2 && !person.isDisabled) await watcher.open(pick(person.visibleFolders, two)?.id);
  }),
  take: kind(20, (world, { one, two }) => pickSlowWatcher(world, one).take(1 + (two % 4))),
  catchUp: kind(5, (world, { one }) => pickSlowWatcher(world, one).check()),
  /** Disconnects while changes are pending. */
  interrupt: kind(12, async (world, { one, two }) => {
    const watcher = pickSlowWatcher(world, one);
    if (!watcher.isOpen) return;
    await watcher.take(1 + (two % 2));
    await watcher.disconnect();
    await watcher.reconnect();
  }),
};

const number = fc.nat(9_999);

export const operations: fc.Arbitrary<Operation> = fc.noBias(
  fc.oneof(
    ...Object.entries(operationKinds).map(([name, { weight }]) => ({
      weight,
      arbitrary: fc.record({
        kind: fc.constant(name),
        by: fc.nat(maxActor),
        one: number,
        two: number,
        three: number,
      }),
    })),
  ),
);

export async function runOperation(world: MirrorWorld, operation: Operation): Promise<void> {
  await operationKinds[operation.kind]!.run(world, operation);
}

function kind(weight: number, run: OperationKind['run']): OperationKind {
  return { weight, run };
}

function pick<T>(all: readonly T[], index: number): T | undefined {
  return all[index % Math.max(1, all.length)];
}

function pickActor({ people, administrator }: MirrorWorld, by: number): Person {
  const person = people[by];
  return person && !person.isDisabled ? person : administrator;
}

function pickPerson({ users }: MirrorWorld, index: number): Person {
  return users[1 + (index % (users.length - 1))]!;
}

function pickFolder({ tree }: MirrorWorld, index: number): TreeFolder {
  return pick(tree, index)!;
}

/** Includes the root. */
function pickFolderOrRoot(world: MirrorWorld, index: number): { readonly id: string } {
  return index % 10 === 0 ? { id: world.rootId } : pickFolder(world, index);
}

/** Returns all folders that are neither the folder itself nor inside it. */
function foldersOutside({ tree }: MirrorWorld, id: string): readonly TreeFolder[] {
  const inside = new Set([id]);
  // The list is sorted from the top down: a parent comes before its children.
  for (const { id: each, parent } of tree) if (parent && inside.has(parent.id)) inside.add(each);
  return tree.filter((folder) => !inside.has(folder.id));
}

function pickSubject(world: MirrorWorld, index: number): Subject {
  const subjectIndex = index % (world.users.length + 1);
  const groupId = world.groupIds[subjectIndex];
  return groupId ? { groupId } : { userId: world.users[subjectIndex - 1]!.id };
}

function pickSlowWatcher({ watchers }: MirrorWorld, index: number): Watcher {
  return pick(
    watchers.filter(({ pace }) => pace === 'slow'),
    index,
  )!;
}

function pickWatcher({ people, watchers }: MirrorWorld, index: number) {
  const watcher = pick(watchers, index)!;
  const person = people.find((each) => each.watchers.includes(watcher))!;
  return { watcher, person, slot: person.watchers.indexOf(watcher) };
}
