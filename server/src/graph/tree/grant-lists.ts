/** The lists of grants that are paged through: on a folder and its ancestors, and to a user or group; the newest first. */

import { accessLevels } from '../../access/access-level.ts';
import {
  countGrantsOn,
  listGrantsOn,
  listGrantsTo,
  type Grant,
  type GrantPosition,
} from '../../access/grants.ts';
import type { KeyedSlice } from '../../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../../database/database.ts';
import { isRowId } from '../../database/row-id.ts';
import { readFolders, type TreeView } from '../../folders/folders.ts';
import { Refusal } from '../../refusal.ts';
import type { GraphContext } from '../builder.ts';
import type { KeysetList } from '../lists/keyset-connection.ts';
import { PagesOfEach, type Charge } from '../lists/pages-of-each.ts';
import { readFolderNodes, type FolderNode } from './folder-level.ts';
import { toGrantNodes, type GrantNode } from './grant-nodes.ts';

export interface GrantOnFolder extends GrantNode {
  /** Where it is known already. */
  readonly folder?: FolderNode;
}

/** A grant to a user or group; the folder is undefined if the viewer does not see it, or it is in the trash. */
interface PlacedGrant {
  readonly grant: Grant;
  readonly folder: FolderNode | undefined;
}

/** How many grants are read at once to find those on visible folders. */
const scanBatch = 1_000;

/** Folder by folder, the nearest first. Of a folder that the viewer does not manage, only the grants to the viewer. */
export function accessList(
  node: FolderNode,
  inherited: boolean,
  context: GraphContext,
  charge: Charge,
): PromiseOrValue<KeysetList<GrantOnFolder>> {
  const { level } = node;
  const folders = inherited ? level.withAncestors() : new Map(level.nodes.map((each) => [each.id, each]));
  return whenDone(folders, (known) =>
    whenDone(inherited ? node.ancestors : [], (ancestors) => {
      const pages = level.together(`access ${inherited}`, () => pagesOn(known, context));
      const path = [node, ...ancestors.toReversed()];
      return {
        name: `access to ${node.id} ${inherited}`,
        keyOf: ({ grant: { folderId, grantedAt, subject } }) => `${folderId} ${grantedAt} ${subject.id}`,
        read: (slice) => readAlong(path, pages, slice, charge),
        count: () => countAlong(path, pages),
      };
    }),
  );
}

function pagesOn(
  folders: ReadonlyMap<string, FolderNode>,
  { reader, access }: GraphContext,
): PagesOfEach<GrantOnFolder> {
  /** Does the same for the folders that the viewer manages and for the others, whose grants to others are hidden. */
  const forBoth = <T>(
    ids: readonly string[],
    read: (ids: readonly string[], subjectIds?: readonly string[]) => PromiseOrValue<ReadonlyMap<string, T>>,
  ): PromiseOrValue<ReadonlyMap<string, T>> => {
    const isManaged = (id: string) => folders.get(id)!.folder.accessLevel >= accessLevels.MANAGE;
    const managed = ids.filter(isManaged);
    const others = ids.filter((id) => !isManaged(id));
    return whenDone(managed.length > 0 ? read(managed) : new Map<string, T>(), (some) =>
      others.length === 0
        ? some
        : whenDone(read(others, [...access.subjectIds]), (more) => new Map([...some, ...more])),
    );
  };
  return new PagesOfEach([...folders.keys()], {
    read: (ids, { after, limit }) => {
      const slice = { after: toPosition(after), limit };
      return whenDone(
        forBoth(ids, (some, subjectIds) => listGrantsOn(reader, some, slice, subjectIds)),
        (grants) =>
          whenDone(toGrantNodes(reader, [...grants.values()].flat()), (nodes) =>
            Map.groupBy(
              nodes.map((each) => ({ ...each, folder: folders.get(each.grant.folderId)! })),
              ({ grant }) => grant.folderId,
            ),
          ),
      );
    },
    count: (ids) => forBoth(ids, (some, subjectIds) => countGrantsOn(reader, some, subjectIds)),
  });
}

function readAlong(
  path: readonly FolderNode[],
  pages: PagesOfEach<GrantOnFolder>,
  { after, limit }: KeyedSlice,
  charge: Charge,
): PromiseOrValue<readonly GrantOnFolder[]> {
  const [folderId, ...position] = after?.split(' ') ?? [];
  const start = folderId === undefined ? 0 : path.findIndex(({ id }) => id === folderId);
  if (start < 0) throw notACursor();
  const readFrom = (
    index: number,
    found: readonly GrantOnFolder[],
  ): PromiseOrValue<readonly GrantOnFolder[]> => {
    if (index >= path.length || found.length >= limit) return found.slice(0, limit);
    const slice = { after: index === start && after !== undefined ? position.join(' ') : undefined, limit };
    return whenDone(pages.pageOf(path[index]!.id, slice, charge), (grants) =>
      readFrom(index + 1, [...found, ...grants]),
    );
  };
  return readFrom(start, []);
}

function countAlong(path: readonly FolderNode[], pages: PagesOfEach<GrantOnFolder>): PromiseOrValue<number> {
  const countFrom = (index: number, total: number): PromiseOrValue<number> =>
    index >= path.length
      ? total
      : whenDone(pages.countOf(path[index]!.id), (count) => countFrom(index + 1, total + count));
  return countFrom(0, 0);
}

/** The grants to each of the users or groups, with those on folders that the viewer does not see. */
export function pagesTo(view: TreeView, subjectIds: readonly string[]): PagesOfEach<PlacedGrant> {
  const read = (ids: readonly string[], { after, limit }: KeyedSlice) =>
    whenDone(listGrantsTo(view.reader, ids, { after: toPosition(after), limit }), (lists) => {
      const grants = [...lists.values()].flat();
      return whenDone(readFolderNodes(view, [...new Set(grants.map((each) => each.folderId))]), (folders) =>
        Map.groupBy(
          grants.map((grant) => ({ grant, folder: folders.get(grant.folderId) })),
          ({ grant }) => grant.subject.id,
        ),
      );
    });
  // Whether the viewer sees a folder is not in the database, so `grantListTo` counts by itself.
  return new PagesOfEach(subjectIds, { read, count: () => new Map() });
}

/** The grants to one user or group, on folders that the viewer sees. */
export function grantListTo(
  subject: { readonly id: string } & Pick<GrantNode, 'user' | 'group'>,
  pages: PagesOfEach<PlacedGrant>,
  { view }: Pick<GraphContext, 'view'>,
  charge: Charge,
): KeysetList<GrantOnFolder> {
  const { id, user, group } = subject;
  const keyOf = ({ grant: { grantedAt, folderId } }: { readonly grant: Grant }) => `${grantedAt} ${folderId}`;
  return {
    name: `grants to ${id}`,
    keyOf,
    async read({ after, limit }) {
      const found: GrantOnFolder[] = [];
      for (let from = after, size = limit; ; size = Math.max(limit, scanBatch)) {
        const placed = await pages.pageOf(id, { after: from, limit: size }, charge);
        charge.budget.scan(placed.length, charge.info);
        for (const { grant, folder } of placed) if (folder) found.push({ grant, folder, user, group });
        if (found.length >= limit || placed.length < size) return found.slice(0, limit);
        from = keyOf(placed.at(-1)!);
      }
    },
    async count() {
      let count = 0;
      for (let after: GrantPosition | undefined; ;) {
        const grants = (await listGrantsTo(view.reader, [id], { after, limit: scanBatch })).get(id) ?? [];
        charge.budget.scan(grants.length, charge.info);
        count += (
          await readFolders(
            view,
            grants.map(({ folderId }) => folderId),
          )
        ).size;
        const last = grants.at(-1);
        if (!last || grants.length < scanBatch) return count;
        after = { grantedAt: last.grantedAt, id: last.folderId };
      }
    },
  };
}

/** Clients can forge a checksum, so the key of a cursor is validated like any other input. */
function toPosition(key: string | undefined): GrantPosition | undefined {
  if (key === undefined) return undefined;
  const [grantedAt = '', id = ''] = key.split(' ');
  if (!/^\d{1,15}$/.test(grantedAt) || !isRowId(id)) throw notACursor();
  return { grantedAt: Number(grantedAt), id };
}

function notACursor(): Refusal {
  return new Refusal('BAD_INPUT', '`after` is not a cursor of this list.');
}
