/** What happens at random: to the tree, to rights, and to those who watch. Numbers name what is there when it is run. */

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
  /** How often it comes, among the others. */
  readonly weight: number;
  run(world: MirrorWorld, given: Operation): Promise<unknown>;
}

/** Beyond the number of people it is the administrator: others may do little. */
const mostActors = 24;
const fewestFolders = 20;
const mostFolders = 70;
const trashDays = 31;

const table: Readonly<Record<string, OperationKind>> = {
  create: kind(8, async (world, { by, one }) => {
    if (world.tree.length > mostFolders) return;
    const parentId = folderAt(world, one).id;
    await world.run(actor(world, by), 'createFolder', { parentId, name: world.newName() });
  }),
  update: kind(8, (world, { by, one, two }) => {
    const change = two % 2 === 0 ? { name: world.newName() } : { title: `title ${two}` };
    return world.run(actor(world, by), 'updateFolder', { id: anyFolderAt(world, one).id, ...change });
  }),
  move: kind(30, (world, { by, one, two }) => {
    const { id } = folderAt(world, one);
    const outside = outsideOf(world, id);
    const parentId = two % 10 === 0 ? world.rootId : (at(outside, two)?.id ?? world.rootId);
    return world.run(actor(world, by), 'moveFolder', { id, parentId });
  }),
  delete: kind(10, async (world, { by, one }) => {
    const { id } = folderAt(world, one);
    if (outsideOf(world, id).length < fewestFolders) return;
    const done = await world.run(actor(world, by), 'deleteFolder', { id, recursive: true });
    if (done) world.trash.push(id);
  }),
  restore: kind(14, async (world, { by, one, two, three }) => {
    const id = at(world.trash, one);
    if (!id) return;
    const parentId = three % 2 === 0 ? undefined : folderAt(world, two).id;
    const name = three % 3 === 0 ? world.newName() : undefined;
    const done = await world.run(actor(world, by), 'restoreFolder', { id, parentId, name });
    if (done) world.trash.splice(world.trash.indexOf(id), 1);
  }),
  import: kind(4, async (world, { by, one, two }) => {
    if (world.tree.length > mostFolders) return;
    const tree = [{ name: world.newName(), folders: [{ name: 'x', folders: [{ name: 'y' }] }] }];
    const parentId = two % 8 === 0 ? undefined : folderAt(world, one).id;
    await world.run(actor(world, by), 'importFolders', { parentId, tree });
  }),
  purge: kind(1, async (world) => {
    await world.bed.purge(trashDays);
    world.trash.splice(0);
  }),
  grant: kind(14, (world, { by, one, two, three }) => {
    const level = ['READ', 'READ', 'WRITE', 'MANAGE', 'NONE'][three % 5]!;
    const { id: folderId } = three % 20 === 0 ? anyFolderAt(world, 0) : folderAt(world, one);
    return world.grant(actor(world, by), { folderId, subject: subjectAt(world, two) }, level);
  }),
  close: kind(8, async (world, { one, two }) => {
    const person = personAt(world, two);
    const folder = at(
      person.seen.filter(({ accessLevel }) => accessLevel !== 'NONE'),
      one,
    );
    if (!folder) return;
    const grant = { folderId: folder.id, subject: { userId: person.id } };
    await world.grant(world.administrator, grant, 'NONE');
  }),
  revoke: kind(20, async (world, { by, one }) => {
    const grant = at(world.grants, one);
    if (!grant) return;
    const { folderId, subject } = grant;
    const done = await world.run(actor(world, by), 'revokeAccess', { folderId, ...subject });
    if (done) world.grants.splice(world.grants.indexOf(grant), 1);
  }),
  join: kind(4, (world, { one, two }) =>
    world.run(world.administrator, 'addToGroup', {
      groupId: at(world.groupIds, one),
      userIds: [personAt(world, two).id],
    }),
  ),
  leave: kind(4, (world, { one, two }) =>
    world.run(world.administrator, 'removeFromGroup', {
      groupId: at(world.groupIds, one),
      userIds: [personAt(world, two).id],
    }),
  ),
  disband: kind(1, async (world, { one }) => {
    const place = one % world.groupIds.length;
    await world.run(world.administrator, 'deleteGroup', { id: world.groupIds[place] });
    world.groupIds[place] = await world.createGroup(world.newName());
  }),
  promote: kind(3, async (world, { one }) => {
    // One and the same mostly, so that the others are seldom administrators.
    const person = one % 3 === 0 ? personAt(world, one) : world.people[2]!;
    const isAdministrator = !person.isAdministrator;
    await world.run(world.administrator, 'updateUser', { id: person.id, isAdministrator });
    person.isAdministrator = isAdministrator;
  }),
  disable: kind(2, async (world, { one }) => {
    const person = world.people.find(({ isDisabled }) => isDisabled) ?? personAt(world, one);
    const isDisabled = !person.isDisabled;
    await world.run(world.administrator, 'updateUser', { id: person.id, isDisabled });
    person.isDisabled = isDisabled;
    // As the server does with the connections of who is disabled.
    for (const watcher of person.watchers) await (isDisabled ? watcher.cut() : watcher.comeBack());
  }),
  cut: kind(10, async (world, { one }) => {
    const open = world.watchers.filter(({ isOpen }) => isOpen);
    await at(open, one)?.cut();
  }),
  comeBack: kind(10, async (world, { one }) => {
    const enabled = world.people.filter(({ isDisabled }) => !isDisabled);
    const cut = enabled.flatMap(({ watchers }) => watchers).filter(({ isOpen }) => !isOpen);
    await at(cut, one)?.comeBack();
  }),
  lookElsewhere: kind(5, async (world, { one, two }) => {
    const { watcher, person, slot } = watcherAt(world, one);
    // The first two of each are of the whole tree.
    if (slot >= 2 && !person.isDisabled) await watcher.open(at(person.seen, two)?.id);
  }),
  take: kind(20, (world, { one, two }) => slowAt(world, one).take(1 + (two % 4))),
  catchUp: kind(5, (world, { one }) => slowAt(world, one).check()),
  /** Killed amid what there is to be told. */
  interrupt: kind(12, async (world, { one, two }) => {
    const watcher = slowAt(world, one);
    if (!watcher.isOpen) return;
    await watcher.take(1 + (two % 2));
    await watcher.cut();
    await watcher.comeBack();
  }),
};

const number = fc.nat(9_999);

export const operations: fc.Arbitrary<Operation> = fc.noBias(
  fc.oneof(
    ...Object.entries(table).map(([name, { weight }]) => ({
      weight,
      arbitrary: fc.record({
        kind: fc.constant(name),
        by: fc.nat(mostActors),
        one: number,
        two: number,
        three: number,
      }),
    })),
  ),
);

export async function runOperation(world: MirrorWorld, operation: Operation): Promise<void> {
  await table[operation.kind]!.run(world, operation);
}

function kind(weight: number, run: OperationKind['run']): OperationKind {
  return { weight, run };
}

function at<T>(all: readonly T[], place: number): T | undefined {
  return all[place % Math.max(1, all.length)];
}

function actor({ people, administrator }: MirrorWorld, by: number): Person {
  const person = people[by];
  return person && !person.isDisabled ? person : administrator;
}

function personAt({ people }: MirrorWorld, place: number): Person {
  return people[1 + (place % (people.length - 1))]!;
}

function folderAt({ tree }: MirrorWorld, place: number): TreeFolder {
  return at(tree, place)!;
}

/** The root, too. */
function anyFolderAt(world: MirrorWorld, place: number): { readonly id: string } {
  return place % 10 === 0 ? { id: world.rootId } : folderAt(world, place);
}

/** All that is not inside a folder, nor the folder itself. */
function outsideOf({ tree }: MirrorWorld, id: string): readonly TreeFolder[] {
  const inside = new Set([id]);
  // From the top down: a parent comes before what is inside it.
  for (const { id: each, parent } of tree) if (parent && inside.has(parent.id)) inside.add(each);
  return tree.filter((folder) => !inside.has(folder.id));
}

function subjectAt(world: MirrorWorld, place: number): Subject {
  const who = place % (world.people.length + 1);
  const groupId = world.groupIds[who];
  return groupId ? { groupId } : { userId: world.people[who - 1]!.id };
}

function slowAt({ watchers }: MirrorWorld, place: number): Watcher {
  return at(
    watchers.filter(({ pace }) => pace === 'slow'),
    place,
  )!;
}

function watcherAt({ people, watchers }: MirrorWorld, place: number) {
  const watcher = at(watchers, place)!;
  const person = people.find((each) => each.watchers.includes(watcher))!;
  return { watcher, person, slot: person.watchers.indexOf(watcher) };
}
