/**
 * The types Node, Folder, FolderConnection and FolderEdge. Add fields of Folder here; the grants on a folder are in `grant.ts`.
 * A field that needs no further read is also listed in `ownFields`, `selected-columns.ts` and `graph/plan/folder-plan.ts`.
 */

import { accessLevels, type AccessLevel } from '../../../access/access.ts';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import type { FolderFilter, FolderOrder } from '../../../folders/children/folder-slice.ts';
import { maxNameLength } from '../../../folders/folder-texts.ts';
import { Refusal } from '../../../refusal.ts';
import { longField } from '../../document-fields.ts';
import { completeInSlices } from '../../time-slices.ts';
import type { Builder, NamedRefOf } from '../builder.ts';
import type { PageInfoRef } from '../connections/keyset-connection.ts';
import type { FolderNode } from './folder-batch.ts';
import { ChildConnection, type FolderConnection, type FolderEdge } from './folder-connection.ts';
import { openDescendants } from './forward-connection.ts';

export type FolderTypes = ReturnType<typeof defineFolder>;

/** Fields that need no read besides the folder and its ancestors. For `parent`, this is true only of its id. */
export const ownFields: readonly string[] = [
  ...['id', 'name', 'title', 'icon', 'description', 'properties', 'parent', 'path', 'depth'],
  ...['accessLevel', 'version', 'createdAt', 'updatedAt'],
];

const passage = 'of a folder that you may only pass through';

export function defineFolder(builder: Builder, { PageInfo }: { readonly PageInfo: PageInfoRef }) {
  const Node = builder.interfaceRef<FolderNode>('Node').implement({
    description: 'What can be asked for by its id alone, with `node`.',
    resolveType: () => 'Folder',
    fields: (t) => ({ id: t.exposeID('id', { description: 'The same for as long as the object exists.' }) }),
  });

  const Folder = builder.objectRef<FolderNode>('Folder');
  const Connection = builder.objectRef<FolderConnection>('FolderConnection');
  const Edge = builder.objectRef<FolderEdge>('FolderEdge');
  const inputs = defineFolderInputs(builder);
  const { AccessLevel } = inputs;
  Folder.implement({
    description:
      'A folder of the shared tree. On the way to something that you may see there can be folders that you may only pass through: their accessLevel is NONE, and they show their name and what leads on.',
    interfaces: [Node],
  });
  defineTextFields(builder, Folder);
  defineLocationFields(builder, Folder);
  defineListFields(builder, Folder, { Connection, ...inputs });
  defineStateFields(builder, Folder, { AccessLevel });
  implementConnection({ Folder, Connection, Edge, PageInfo });
  return { Node, Folder, Connection, AccessLevel };
}

type FolderRef = NamedRefOf<FolderNode>;
type FolderInputs = ReturnType<typeof defineFolderInputs>;

function defineTextFields(builder: Builder, Folder: FolderRef): void {
  builder.objectFields(Folder, (t) => ({
    name: t.string({
      description: 'Unique among its siblings.',
      resolve: ({ folder }, _, { budget }, info) => budget.spendText(folder.name, info),
    }),
    title: t.string({
      description: 'What people call it; the name, unless a title was given.',
      resolve: ({ folder }, _, { budget }, info) => budget.spendText(folder.title ?? folder.name, info),
    }),
    icon: t.string({
      nullable: true,
      description: 'Whatever the clients agree on: an emoji, the name of a symbol, an address.',
      resolve: (node, _, { budget }, info) =>
        whenDone(node.batch.textsOf(node), ({ icon }) => budget.spendText(icon, info)),
    }),
    description: t.string({
      nullable: true,
      resolve: (node, _, { budget }, info) =>
        whenDone(node.batch.textsOf(node), ({ description }) => budget.spendText(description, info)),
    }),
    properties: t.field({
      type: 'JSON',
      description: 'A JSON object of what else clients keep with the folder.',
      resolve: (node, _, { budget }, info) =>
        whenDone(node.batch.textsOf(node), ({ properties }) => budget.spendText(properties ?? '{}', info)),
    }),
  }));
}

function defineLocationFields(builder: Builder, Folder: FolderRef): void {
  builder.objectFields(Folder, (t) => ({
    parent: t.field({
      type: Folder,
      nullable: true,
      description: 'Null for the root.',
      resolve: (node, _, { budget }, info) =>
        whenDone(node.batch.parentOf(node), (parent) => parent && budget.spend([parent], info)[0]!),
    }),
    ancestors: t.field({
      type: [Folder],
      description: 'From the root down to the parent.',
      resolve: (node, _, { budget }, info) =>
        whenDone(node.ancestors, (ancestors) => budget.spend(ancestors, info)),
    }),
    path: t.string({
      description: 'The names from below the root to here, each after a slash; "/" for the root.',
      resolve: (node, _, { budget }, info) =>
        whenDone(node.ancestors, (ancestors) => budget.spendText(node.pathAfter(ancestors), info)),
    }),
    depth: t.int({
      description: 'How far below the root; 0 for the root.',
      resolve: (node) => whenDone(node.ancestors, (ancestors) => ancestors.length),
    }),
  }));
}

function defineListFields(
  builder: Builder,
  Folder: FolderRef,
  {
    Connection,
    FolderFilter,
    FolderOrder,
  }: Pick<FolderInputs, 'FolderFilter' | 'FolderOrder'> & {
    readonly Connection: NamedRefOf<FolderConnection>;
  },
): void {
  builder.objectFields(Folder, (t) => ({
    folders: t.field({
      type: Connection,
      description:
        'The sub-folders that you may see, in natural order ("Floor 2" before "Floor 10"); without arguments, all of them.',
      args: {
        first: t.arg.int({ description: 'At most so many from the start.' }),
        after: t.arg.string({ description: 'Only what follows this cursor.' }),
        last: t.arg.int({ description: 'At most so many from the end.' }),
        before: t.arg.string({ description: 'Only what precedes this cursor.' }),
        filter: t.arg({ type: FolderFilter, description: 'Only those to which all of this applies.' }),
        orderBy: t.arg({ type: FolderOrder, description: 'By name, ascending, unless told.' }),
        skip: t.arg.int({
          description: 'Passes over so many first, for a list that is scrolled at random. Only with `first`.',
        }),
      },
      resolve: (node, { filter, orderBy, ...page }, { budget }, info) =>
        new ChildConnection(
          node,
          { ...page, filter: toFilter(filter), order: toOrder(orderBy) },
          budget,
          info,
        ),
    }),
    position: t.int({
      description: 'How many of its siblings that you see come before it in natural order; 0 for the root.',
      resolve: (node, _, { budget }, info) =>
        node.batch.positionOf(node, (count) => budget.scan(count, info)),
    }),
    descendants: t.field({
      type: Connection,
      description:
        'Everything below that you may see, as one flat list: each folder right before what is inside it. The edges carry their depth.',
      args: {
        depth: t.arg.int({ description: 'Only so many levels; 1 is the sub-folders.' }),
        first: t.arg.int({ description: 'At most so many.' }),
        after: t.arg.string({ description: 'Only what follows this cursor.' }),
      },
      extensions: longField,
      resolve: (node, args, context, info) => openDescendants(node, args, context, info),
    }),
  }));
}

function defineStateFields(
  builder: Builder,
  Folder: FolderRef,
  { AccessLevel }: Pick<FolderInputs, 'AccessLevel'>,
): void {
  builder.objectFields(Folder, (t) => ({
    accessLevel: t.field({
      type: AccessLevel,
      description: 'What you may do with it.',
      resolve: ({ folder }) => folder.accessLevel,
    }),
    version: t.int({
      description: `Grows with every change of the folder itself; for \`expectedVersion\`. 0 ${passage}.`,
      resolve: ({ folder }) => folder.version,
    }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ folder }) => folder.createdAt }),
    updatedAt: t.field({
      type: 'DateTime',
      description: `When the folder itself was last changed or moved. The time of creation ${passage}.`,
      resolve: ({ folder }) => folder.updatedAt,
    }),
  }));
}

function implementConnection({
  Folder,
  Connection,
  Edge,
  PageInfo,
}: {
  readonly Folder: FolderRef;
  readonly Connection: NamedRefOf<FolderConnection>;
  readonly Edge: NamedRefOf<FolderEdge>;
  readonly PageInfo: PageInfoRef;
}): void {
  Connection.implement({
    description: 'A list of folders, or a page of it.',
    fields: (t) => ({
      edges: t.field({
        type: [Edge],
        resolve: ({ edges }, _, context, info) =>
          whenDone(edges, (all) => completeInSlices(context.budget.spend(all, info), context, info)),
      }),
      items: t.field({
        type: [Folder],
        description: 'The nodes of the edges.',
        resolve: ({ edges }, _, context, info) =>
          whenDone(edges, (all) => {
            const nodes = context.budget.spend(all, info).map(({ node }) => node);
            return completeInSlices(nodes, context, info);
          }),
      }),
      pageInfo: t.field({ type: PageInfo, resolve: ({ pageInfo }) => pageInfo }),
      totalCount: t.int({
        description: 'How many folders the whole list has for you.',
        resolve: ({ totalCount }) => totalCount,
      }),
    }),
  });

  Edge.implement({
    description: 'A folder and its place in a list.',
    fields: (t) => ({
      cursor: t.string({
        resolve: ({ cursor }, _, { budget }, info) => budget.spendText(cursor, info),
      }),
      depth: t.int({
        nullable: true,
        description: 'How far below the folder that was asked: 1 is a sub-folder. Null in a search.',
        resolve: ({ depth }) => depth,
      }),
      node: t.field({ type: Folder, resolve: ({ node }) => node }),
    }),
  });
}

/** The enums and inputs of the arguments of Folder's fields. */
function defineFolderInputs(builder: Builder) {
  const AccessLevel = builder.enumType('AccessLevel', {
    description: 'What somebody may do with a folder. Each level includes those before it.',
    values: {
      NONE: { value: accessLevels.NONE, description: 'Nothing, or only pass through to something deeper.' },
      READ: { value: accessLevels.READ, description: 'See it and what is inside.' },
      WRITE: { value: accessLevels.WRITE, description: 'Change it, and what is inside.' },
      MANAGE: { value: accessLevels.MANAGE, description: 'Decide who may do what.' },
    } satisfies Record<string, { value: AccessLevel; description: string }>,
  });

  const OrderField = builder.enumType('FolderOrderField', {
    values: {
      NAME: { description: 'In natural order: "Floor 2" before "Floor 10".' },
      CREATED: {},
      UPDATED: {},
    },
  });

  const Direction = builder.enumType('OrderDirection', { values: ['ASC', 'DESC'] as const });

  const FolderOrder = builder.inputType('FolderOrder', {
    fields: (t) => ({
      field: t.field({ type: OrderField, required: true }),
      direction: t.field({ type: Direction, required: true, defaultValue: 'ASC' }),
    }),
  });

  const FolderFilter = builder.inputType('FolderFilter', {
    description: 'Names are compared without regard to case and accents.',
    fields: (t) => ({
      nameContains: t.string(),
      nameStartsWith: t.string(),
      hasChildren: t.boolean({ description: 'Whether there are sub-folders that you may see.' }),
      updatedSince: t.field({ type: 'DateTime', description: 'Changed then or later.' }),
    }),
  });

  return { AccessLevel, FolderFilter, FolderOrder };
}

interface FilterInput {
  readonly nameContains?: string | null | undefined;
  readonly nameStartsWith?: string | null | undefined;
  readonly hasChildren?: boolean | null | undefined;
  readonly updatedSince?: number | null | undefined;
}

/** Undefined if it leaves nothing out. */
export function toFilter(input: FilterInput | null | undefined): FolderFilter | undefined {
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
  if (input.length > 2 * maxNameLength || [...input].length > maxNameLength) {
    throw new Refusal('BAD_INPUT', `\`${argument}\` has at most ${maxNameLength} characters, as a name has.`);
  }
  if (!input.isWellFormed() || /\p{Cc}/u.test(input)) {
    throw new Refusal(
      'BAD_INPUT',
      `\`${argument}\` must be well-formed Unicode without control characters, as a name is.`,
    );
  }
  return input;
}

function toOrder(
  input: { readonly field: FolderOrder['field']; readonly direction: 'ASC' | 'DESC' } | null | undefined,
): FolderOrder | undefined {
  return input ? { field: input.field, isDescending: input.direction === 'DESC' } : undefined;
}
