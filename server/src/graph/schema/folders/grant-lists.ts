/** The paginated lists of grants, newest first: the grants on a folder and its ancestors, and the grants to a user or group. */

import { accessLevels } from '../../../access/access.ts';
import {
  countEffectiveAccess,
  listEffectiveAccess,
  type EffectiveAccess,
} from '../../../access/effective-access.ts';
import {
  countGrantsOn,
  listGrantsOn,
  listGrantsTo,
  type Grant,
  type GrantPosition,
} from '../../../access/grants.ts';
import { readGroups, type Group } from '../../../accounts/groups.ts';
import { userKey, type KeyedSlice } from '../../../accounts/users.ts';
import { inOrder, whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import { readFolders, type TreeView } from '../../../folders/tree-view.ts';
import type { Reader } from '../../../database/database.ts';
import type { GraphContext } from '../builder.ts';
import {
  BatchedLists,
  listCursorRefusal,
  toTimeAndId,
  type Charge,
  type KeysetList,
} from '../connections/relay-connection.ts';
import { readUserNodes, UserBatch, type UserNode } from '../people/people-batch.ts';
import { readFolderNodes, type FolderNode } from './folder-batch.ts';

export interface GrantNode extends Grant {
  readonly folder: FolderNode;
  /** Either `user` or `group` is set. Both are null if the user or group has been deleted meanwhile. */
  readonly user: UserNode | null;
  readonly group: Group | null;
}

/** The folder is undefined if the viewer does not see it, or if it is in the trash. */
type GrantOnAnyFolder = Grant & { readonly folder: FolderNode | undefined };

/** The number of grants that one statement reads to find the grants on visible folders. */
const scanBatch = 1_000;

/**
 * Lists the grants folder by folder, the nearest folder first. On a folder that the viewer does not manage, lists only the
 * grants to the viewer.
 */
export function accessList(
  node: FolderNode,
  inherited: boolean,
  context: GraphContext,
  charge: Charge,
): PromiseOrValue<KeysetList<GrantNode>> {
  const { batch } = node;
  const folders = inherited ? batch.withAncestors() : new Map(batch.nodes.map((each) => [each.id, each]));
  return whenDone(folders, (byId) =>
    whenDone(inherited ? node.ancestors : [], (ancestors) => {
      const grants = batch.readOnce(`access ${inherited}`, () => grantsOnFolders(byId, context));
      const path = [node, ...ancestors.toReversed()];
      const countAll = () => inOrder(path, ({ id }) => grants.countOf(id));
      return {
        name: `access to ${node.id} ${inherited}`,
        keyOf: ({ folderId, grantedAt, subjectId }) => `${folderId} ${grantedAt} ${subjectId}`,
        read: (slice) => readAlong(path, grants, slice, charge),
        count: () => whenDone(countAll(), (counts) => counts.reduce((sum, count) => sum + count, 0)),
      };
    }),
  );
}

function grantsOnFolders(
  folders: ReadonlyMap<string, FolderNode>,
  { reader, access, view }: GraphContext,
): BatchedLists<GrantNode> {
  /** Reads the grants on folders that the viewer manages, then on the others, where grants to other users are hidden. Outside its folder, an API key reads no grants. */
  const readBoth = <T>(
    ids: readonly string[],
    read: (ids: readonly string[], subjectIds?: readonly string[]) => PromiseOrValue<ReadonlyMap<string, T>>,
  ): PromiseOrValue<ReadonlyMap<string, T>> => {
    const isManaged = (id: string) => folders.get(id)!.folder.accessLevel >= accessLevels.MANAGE;
    const managed = ids.filter(isManaged);
    const others = ids.filter((id) => !isManaged(id) && access.reaches(view.ancestry.pathTo(id) ?? []));
    return whenDone(managed.length > 0 ? read(managed) : new Map<string, T>(), (some) =>
      others.length === 0
        ? some
        : whenDone(read(others, [...access.subjectIds]), (more) => new Map([...some, ...more])),
    );
  };
  return new BatchedLists([...folders.keys()], {
    read: (ids, { after, limit }) => {
      const slice = { after: toPosition(after), limit };
      const grants = readBoth(ids, (some, subjectIds) => listGrantsOn(reader, some, slice, subjectIds));
      return whenDone(grants, (found) =>
        whenDone(toGrantNodes([...found.values()].flat(), folders, reader), (nodes) =>
          Map.groupBy(nodes, ({ folderId }) => folderId),
        ),
      );
    },
    count: (ids) => readBoth(ids, (some, subjectIds) => countGrantsOn(reader, some, subjectIds)),
  });
}

/** Reads the users and groups of all grants with two statements. */
function toGrantNodes(
  grants: readonly Grant[],
  folders: ReadonlyMap<string, FolderNode>,
  reader: Reader,
): PromiseOrValue<GrantNode[]> {
  const idsOf = (kind: Grant['subjectKind']) => [
    ...new Set(grants.filter(({ subjectKind }) => subjectKind === kind).map(({ subjectId }) => subjectId)),
  ];
  return whenDone(readUserNodes(reader, idsOf('user')), (users) =>
    whenDone(readGroups(reader, idsOf('group')), (groups) =>
      grants.map((grant) => ({
        ...grant,
        folder: folders.get(grant.folderId)!,
        user: users.get(grant.subjectId) ?? null,
        group: groups.get(grant.subjectId) ?? null,
      })),
    ),
  );
}

function readAlong(
  path: readonly FolderNode[],
  grants: BatchedLists<GrantNode>,
  { after, limit }: KeyedSlice,
  charge: Charge,
): PromiseOrValue<readonly GrantNode[]> {
  const [folderId, ...position] = after?.split(' ') ?? [];
  const start = folderId === undefined ? 0 : path.findIndex(({ id }) => id === folderId);
  if (start < 0) throw listCursorRefusal();
  const readFrom = (
    index: number,
    from: string | undefined,
    found: readonly GrantNode[],
  ): PromiseOrValue<readonly GrantNode[]> => {
    if (index >= path.length || found.length >= limit) return found.slice(0, limit);
    return whenDone(grants.pageOf(path[index]!.id, { after: from, limit }, charge), (page) =>
      readFrom(index + 1, undefined, [...found, ...page]),
    );
  };
  return readFrom(start, folderId === undefined ? undefined : position.join(' '), []);
}

export interface EffectiveAccessNode extends Omit<EffectiveAccess, 'user' | 'grant'> {
  readonly user: UserNode;
  readonly grant: GrantNode | null;
}

/** Everyone who has access to the folder. The caller checks that the viewer may read it. */
export function effectiveAccessList(
  node: FolderNode,
  { reader, view }: GraphContext,
  { budget, info }: Charge,
): PromiseOrValue<KeysetList<EffectiveAccessNode>> {
  return whenDone(node.batch.withAncestors(), (folders) => {
    const options = {
      pathIds: view.ancestry.pathTo(node.id) ?? [],
      onRead: (count: number) => budget.scan(count, info),
    };
    return {
      name: `effective access to ${node.id}`,
      keyOf: ({ user }) => userKey(user),
      read: async (slice) =>
        toEffectiveAccessNodes(await listEffectiveAccess(reader, options, slice), folders, reader),
      count: () => countEffectiveAccess(reader, options),
    };
  });
}

async function toEffectiveAccessNodes(
  list: readonly EffectiveAccess[],
  folders: ReadonlyMap<string, FolderNode>,
  reader: Reader,
): Promise<readonly EffectiveAccessNode[]> {
  const { nodes } = new UserBatch(list.map(({ user }) => user));
  const groupIds = list.flatMap(({ grant }) => (grant?.subjectKind === 'group' ? [grant.subjectId] : []));
  const groups = await readGroups(reader, [...new Set(groupIds)]);
  return list.map(({ level, grant }, index) => {
    const user = nodes[index]!;
    return {
      user,
      level,
      grant: grant
        ? {
            ...grant,
            folder: folders.get(grant.folderId)!,
            user: grant.subjectKind === 'user' ? user : null,
            group: groups.get(grant.subjectId) ?? null,
          }
        : null,
    };
  });
}

/** The grants to each of the users or groups, including grants on folders that the viewer does not see. */
export function grantsToSubjects(
  view: TreeView,
  subjectIds: readonly string[],
): BatchedLists<GrantOnAnyFolder> {
  const read = (ids: readonly string[], { after, limit }: KeyedSlice) =>
    whenDone(listGrantsTo(view.reader, ids, { after: toPosition(after), limit }), (lists) => {
      const grants = [...lists.values()].flat();
      return whenDone(readFolderNodes(view, [...new Set(grants.map((each) => each.folderId))]), (folders) =>
        Map.groupBy(
          grants.map((grant) => ({ ...grant, folder: folders.get(grant.folderId) })),
          ({ subjectId }) => subjectId,
        ),
      );
    });
  // The database does not check which folders are visible, so `grantListTo` counts them itself.
  return new BatchedLists(subjectIds, { read, count: () => new Map() });
}

/** The grants to one user or group, on folders that the viewer sees. */
export function grantListTo(
  subject: Pick<GrantNode, 'user' | 'group'>,
  lists: BatchedLists<GrantOnAnyFolder>,
  view: TreeView,
  charge: Charge,
): KeysetList<GrantNode> {
  const { id } = (subject.user ?? subject.group)!;
  const keyOf = ({ grantedAt, folderId }: Grant) => `${grantedAt} ${folderId}`;
  return {
    name: `grants to ${id}`,
    keyOf,
    async read({ after, limit }) {
      const found: GrantNode[] = [];
      for (let from = after, size = limit; ; size = Math.max(limit, scanBatch)) {
        const grants = await lists.pageOf(id, { after: from, limit: size }, charge);
        charge.budget.scan(grants.length, charge.info);
        for (const { folder, ...grant } of grants) if (folder) found.push({ ...grant, folder, ...subject });
        if (found.length >= limit || grants.length < size) return found.slice(0, limit);
        from = keyOf(grants.at(-1)!);
      }
    },
    async count() {
      let count = 0;
      for (let after: GrantPosition | undefined; ;) {
        const grants = (await listGrantsTo(view.reader, [id], { after, limit: scanBatch })).get(id) ?? [];
        charge.budget.scan(grants.length, charge.info);
        const folderIds = grants.map(({ folderId }) => folderId);
        count += (await readFolders(view, folderIds)).size;
        const last = grants.at(-1);
        if (!last || grants.length < scanBatch) return count;
        after = { grantedAt: last.grantedAt, id: last.folderId };
      }
    },
  };
}

function toPosition(key: string | undefined): GrantPosition | undefined {
  const position = toTimeAndId(key);
  return position && { grantedAt: position.time, id: position.id };
}
