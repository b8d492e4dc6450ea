/**
 * The types Node, Folder, FolderConnection and FolderEdge. Add fields of Folder here; the grants on a folder are in `grant.ts`.
 * A new field may also need a line in these files:
 *
 * - `ownFields` in `graph/plan/plan-first-read.ts`, if the field depends only on the folder and its ancestors
 * - `graph/plan/folder-plan.ts`; without it, queries with the field run on graphql-js, correctly but slower
 * - `child-connection.ts`, which decides the columns that a list reads for the field; by default, all except the long texts
 * - `weights` in `graph/cost/cost.ts`, if the field has arguments or runs a statement
 *
 * Mark it with `personalField` if the value depends on the viewer beyond their rights, and with `longField` if it is slow: see
 * `graph/field-marks.ts`. Then run `npm run generate`. If the value is stored, see "A column of `folders`" in
 * `docs/architecture.md`.
 */

import { maxFolderNameLength } from '@espalier/contract';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import type { FolderFilter as Filter } from '../../../folders/folder-slice.ts';
import { Refusal } from '../../../refusal.ts';
import { longField } from '../../field-marks.ts';
import { AccessLevel, builder, Folder, FolderConnection, Node } from '../builder.ts';
import { chargeList, chargeText, chargeTextIn } from '../charges.ts';
import {
  defineConnection,
  edgeCursor,
  edgeNode,
  pageArguments,
} from '../connections/relay-connection-types.ts';
import type { Edge } from '../connections/relay-connection.ts';
import { ChildConnection } from './child-connection.ts';
import type { FolderNode } from './folder-batch.ts';
import { openDescendants } from './descendants-and-search.ts';

Node.implement({
  description: 'An object that the query `node` finds by its id.',
  resolveType: () => 'Folder',
  fields: (t) => ({ id: t.exposeID('id', { description: 'The id, a UUID that never changes.' }) }),
});

Folder.implement({
  description:
    'A folder of the shared tree. You see the ancestors of every folder that you may read. If you have no rights on such an ancestor, its `accessLevel` is NONE: you see only its name, and the subfolders on the way to folders that you may read.',
  interfaces: [Node],
});

const textsOf = (node: FolderNode) => node.batch.textsOf(node);
const ofPassage = 'if your `accessLevel` is NONE';

builder.objectFields(Folder, (t) => ({
  name: t.string({
    description: 'The name, which is unique among the subfolders of the same parent. For example: "Floor 2".',
    resolve: chargeText(({ folder }) => folder.name),
  }),
  title: t.string({
    description: 'The name for display. If no title is set, this is the name.',
    resolve: chargeText(({ folder }) => folder.title ?? folder.name),
  }),
  icon: t.string({
    nullable: true,
    description: 'Any text that the clients agree on, for example an emoji, a symbol name or a URL.',
    resolve: chargeTextIn(textsOf, ({ icon }) => icon),
  }),
  description: t.string({
    nullable: true,
    description: 'A text of at most 10,000 characters, which can contain line breaks.',
    resolve: chargeTextIn(textsOf, ({ description }) => description),
  }),
  properties: t.field({
    type: 'JSON',
    description: 'A JSON object for other data of your clients. For example: {"area": 120}.',
    resolve: chargeTextIn(textsOf, ({ properties }) => properties ?? '{}'),
  }),
  parent: t.field({
    type: Folder,
    nullable: true,
    description: 'The parent folder. Null for the root.',
    resolve: (node, _, { budget }, info) =>
      whenDone(node.batch.parentOf(node), (parent) => parent && budget.spend([parent], info)[0]!),
  }),
  ancestors: t.field({
    type: [Folder],
    description: 'The folders above this folder, from the root to the parent.',
    resolve: chargeList(({ ancestors }) => ancestors),
  }),
  path: t.string({
    description:
      'The names of the folders from the root to this folder, each after a slash. For example: "/Places/Floor 2", or "/" for the root.',
    resolve: chargeTextIn(
      ({ ancestors }) => ancestors,
      (ancestors, node) => node.pathAfter(ancestors),
    ),
  }),
  depth: t.int({
    description: 'The number of levels below the root. 0 for the root.',
    resolve: (node) => whenDone(node.ancestors, (ancestors) => ancestors.length),
  }),
}));

const OrderField = builder.enumType('FolderOrderField', {
  description: 'The order of a list of folders.',
  values: {
    NAME: { description: 'By name in natural order: "Floor 2" before "Floor 10".' },
    CREATED: { description: 'By `createdAt`.' },
    UPDATED: { description: 'By `updatedAt`.' },
  },
});

const Direction = builder.enumType('OrderDirection', {
  description: 'The direction of an order.',
  values: {
    ASC: { description: 'Ascending: the first name or the earliest time first.' },
    DESC: { description: 'Descending: the last name or the latest time first.' },
  },
});

const FolderOrder = builder.inputType('FolderOrder', {
  description: 'The order of a list of folders.',
  fields: (t) => ({
    field: t.field({ type: OrderField, required: true, description: 'The value to order by.' }),
    direction: t.field({
      type: Direction,
      required: true,
      defaultValue: 'ASC',
      description: 'Ascending or descending.',
    }),
  }),
});

const FolderFilter = builder.inputType('FolderFilter', {
  description:
    'Conditions that a folder must meet, all at the same time. Case and accents do not matter: "cafe" finds "Café".',
  fields: (t) => ({
    nameContains: t.string({ description: 'Folders whose name contains this text.' }),
    nameStartsWith: t.string({ description: 'Folders whose name starts with this text.' }),
    hasChildren: t.boolean({
      description:
        'If true, only folders with subfolders that you see. If false, only folders without such subfolders.',
    }),
    updatedSince: t.field({ type: 'DateTime', description: 'Folders changed at this time or later.' }),
  }),
});

builder.objectFields(Folder, (t) => ({
  folders: t.field({
    type: FolderConnection,
    description:
      'The subfolders that you see, by default in natural order ("Floor 2" before "Floor 10"). Without `first` and `last`, the page holds the whole list.',
    args: {
      ...pageArguments(t.arg, 'all by default'),
      last: t.arg.int({ description: 'The maximum number of results, from the end of the list.' }),
      before: t.arg.string({ description: 'Return only the results before this cursor.' }),
      filter: t.arg({ type: FolderFilter, description: 'Return only the folders that match this filter.' }),
      orderBy: t.arg({ type: FolderOrder, description: 'The order: by name by default.' }),
      skip: t.arg.int({
        description: 'Skip this number of results, for random access to a long list. Requires `first`.',
      }),
    },
    resolve: (node, { filter, orderBy, ...page }, { budget }, info) => {
      const order = orderBy
        ? { field: orderBy.field, isDescending: orderBy.direction === 'DESC' }
        : undefined;
      return new ChildConnection(node, { ...page, filter: toFilter(filter), order }, budget, info);
    },
  }),
  position: t.int({
    description: 'The number of siblings that you see before this folder, in natural order. 0 for the root.',
    resolve: (node, _, { budget }, info) => node.batch.positionOf(node, (count) => budget.scan(count, info)),
  }),
  descendants: t.field({
    type: FolderConnection,
    description:
      'All folders that you see below this folder, as a flat list. Each folder comes directly before the folders inside it, and each edge has its depth.',
    args: {
      depth: t.arg.int({
        description: 'The maximum number of levels below this folder. 1 returns only the subfolders.',
      }),
      ...pageArguments(t.arg, 'all by default'),
    },
    extensions: longField,
    resolve: (node, args, context, info) => openDescendants(node, args, context, info),
  }),
}));

builder.objectFields(Folder, (t) => ({
  accessLevel: t.field({
    type: AccessLevel,
    description: 'Your access level on this folder.',
    resolve: ({ folder }) => folder.accessLevel,
  }),
  version: t.int({
    description: `The version, which increases with every change of the folder itself. Pass it as \`expectedVersion\` to a mutation. 0 ${ofPassage}.`,
    resolve: ({ folder }) => folder.version,
  }),
  createdAt: t.field({
    type: 'DateTime',
    description: 'When the folder was created.',
    resolve: ({ folder }) => folder.createdAt,
  }),
  updatedAt: t.field({
    type: 'DateTime',
    description: `When the folder itself was last changed or moved. The same as \`createdAt\` ${ofPassage}.`,
    resolve: ({ folder }) => folder.updatedAt,
  }),
}));

const FolderEdge = builder.objectRef<Edge<FolderNode>>('FolderEdge');
defineConnection(Folder, 'folders', { Connection: FolderConnection, Edge: FolderEdge });
FolderEdge.implement({
  description: 'An element of a list of folders, with its cursor.',
  fields: (t) => ({
    cursor: t.string({ description: edgeCursor, resolve: chargeText(({ cursor }) => cursor) }),
    depth: t.exposeInt('depth', {
      nullable: true,
      description:
        'The number of levels below the folder of the list: 1 for a subfolder. Null in the results of a search.',
    }),
    node: t.expose('node', { type: Folder, description: edgeNode }),
  }),
});

/** Returns undefined if the input has no condition. */
function toFilter(input: (typeof FolderFilter)['$inferInput'] | null | undefined): Filter | undefined {
  if (!input) return undefined;
  const filter = {
    nameContains: toNamePart(input.nameContains, 'nameContains'),
    nameStartsWith: toNamePart(input.nameStartsWith, 'nameStartsWith'),
    hasChildren: input.hasChildren ?? undefined,
    updatedSince: input.updatedSince ?? undefined,
  };
  return Object.values(filter).some((value) => value !== undefined) ? filter : undefined;
}

function toNamePart(input: string | null | undefined, argument: string): string | undefined {
  if (!input) return undefined;
  if (input.length > 2 * maxFolderNameLength || [...input].length > maxFolderNameLength) {
    throw new Refusal(
      'BAD_INPUT',
      `\`${argument}\` must have at most ${maxFolderNameLength} characters, like a name.`,
    );
  }
  if (!input.isWellFormed() || /\p{Cc}/u.test(input)) {
    throw new Refusal('BAD_INPUT', `\`${argument}\` must be well-formed Unicode without control characters.`);
  }
  return input;
}
