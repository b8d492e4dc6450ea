/**
 * Compiles the selected fields of folders into functions that write the response text. All folders of a level are
 * handled together, so that each level of the tree takes one statement. They use the connections and resolvers of the schema,
 * so paging, rights and budgets are the same as in graphql-js.
 */

import { getNamedType, type GraphQLEnumType } from 'graphql';
import { inOrder, whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { visibleChildCount } from '../../folders/children/children.ts';
import type { LongTexts } from '../../folders/tree-view.ts';
import type { Connection, Edge, PageInfo } from '../schema/connections/relay-connection.ts';
import type { FolderNode } from '../schema/folders/folder-batch.ts';
import { quote, type PlanRun } from './plan-run.ts';
import { innerObject, listTexts, ObjectWriter, type FieldWriter } from './json-writer.ts';
import { UnplannableError, type SelectedField, type Selections, type Variables } from './selections.ts';

type FolderConnection = Connection<FolderNode>;
type FolderEdge = Edge<FolderNode>;
type FolderWriter = FieldWriter<FolderNode>;
type ConnectionWriter = FieldWriter<FolderConnection>;

/** Compiles the selection of a field that returns folders. */
export function planFolders(selections: Selections, field: SelectedField): ObjectWriter<FolderNode> {
  return new ObjectWriter(selections.inside(field), (inner) => folderWriter(selections, inner));
}

/** Compiles the selection of a field that returns connections of folders. */
export function planConnections(
  selections: Selections,
  field: SelectedField,
): ObjectWriter<FolderConnection> {
  return new ObjectWriter(selections.inside(field), (inner) => connectionWriter(selections, inner));
}

function folderWriter(selections: Selections, field: SelectedField): FolderWriter {
  switch (field.name) {
    case 'id':
      return { write: ({ folder }) => `"${folder.id}"` };
    case 'name':
      return { write: ({ folder }, run, index) => textOf(folder.name, field, run, index) };
    case 'title':
      return { write: ({ folder }, run, index) => textOf(folder.title ?? folder.name, field, run, index) };
    case 'icon':
    case 'description':
      return longText(field, field.name);
    case 'properties':
      return {
        load: textsFor(field),
        write(node, run, index) {
          const text = textsOf(node).properties ?? '{}';
          run.spendText(text, field, index);
          return text;
        },
      };
    case 'accessLevel': {
      const type = getNamedType(field.info.returnType) as GraphQLEnumType;
      const names = new Map(type.getValues().map(({ name, value }) => [value as number, `"${name}"`]));
      return { write: ({ folder }) => names.get(folder.accessLevel)! };
    }
    case 'version':
      return { write: ({ folder }) => String(folder.version) };
    case 'createdAt':
      return { write: ({ folder }, { instants }) => instants.write(folder.createdAt) };
    case 'updatedAt':
      return { write: ({ folder }, { instants }) => instants.write(folder.updatedAt) };
    default:
      return ancestorWriter(selections, field) ?? childListWriter(selections, field);
  }
}

/** Fields about the folders above a folder. */
function ancestorWriter(selections: Selections, field: SelectedField): FolderWriter | undefined {
  switch (field.name) {
    case 'parent':
      return parentWriter(selections, field);
    case 'depth':
      return { load: ancestorsFor(field), write: (node) => String(ancestorsOf(node).length) };
    case 'path':
      return {
        load: ancestorsFor(field),
        write: (node, run, index) => textOf(node.pathAfter(ancestorsOf(node)), field, run, index),
      };
    case 'position':
      return {
        writeAll: (nodes, run) =>
          run.readEach(field, nodes, (node) => {
            const charge = (count: number) => run.context.budget.scan(count, field.info);
            return whenDone(node.batch.positionOf(node, charge), String);
          }),
      };
    case 'ancestors':
      return listWriter(field, planFolders(selections, field), ({ ancestors }) => ancestors);
    default:
      return undefined;
  }
}

/**
 * Covers only the parent's id, which each folder contains. Any other field could fail for a single parent, which must then be
 * null.
 */
function parentWriter(selections: Selections, field: SelectedField): FolderWriter {
  const inside = selections.inside(field);
  if (inside.some(({ name }) => name !== 'id' && name !== '__typename')) throw new UnplannableError();
  const idMark = '\0';
  const texts = inside.map(
    ({ key, name }) => `${JSON.stringify(key)}:${name === 'id' ? idMark : '"Folder"'}`,
  );
  const [start = '', ...rest] = `{${texts.join()}}`.split(idMark);
  const write = (parentId: string) => {
    let text = start;
    // Not `join`, which takes three times as long.
    for (const part of rest) text += `"${parentId}"${part}`;
    return text;
  };
  return {
    write: ({ folder: { parentId } }, run, index) =>
      parentId === null
        ? 'null'
        : run.nullable(() => {
            run.spendFolders(1, field, index);
            return write(parentId);
          }),
  };
}

/** Lists of folders below a folder. */
function childListWriter(selections: Selections, field: SelectedField): FolderWriter {
  if (field.name !== 'folders' && field.name !== 'descendants') throw new UnplannableError();
  const writer = planConnections(selections, field);
  const count = field.name === 'folders' ? countWriter(selections, field) : undefined;
  return {
    writeAll: (nodes, run) =>
      run.locate(field, () => {
        const input = field.argumentsIn(run.variables);
        const connect = (node: FolderNode) => run.resolve<FolderConnection>(field, input, node);
        if (count && !isNarrowed(input)) {
          // The arguments are the same for all folders, so they are checked once.
          return whenDone(connect(nodes[0]!), () => nodes.map(count));
        }
        return whenDone(inOrder(nodes, connect), (connections) => writer.write(connections, run));
      }),
  };
}

/** For a list with `totalCount` as the only selected field: each folder already contains this number. */
function countWriter(
  selections: Selections,
  field: SelectedField,
): ((node: FolderNode) => string) | undefined {
  const [only, ...others] = selections.inside(field);
  if (only?.name !== 'totalCount' || others.length > 0) return undefined;
  const start = `{${JSON.stringify(only.key)}:`;
  return ({ folder, batch }) => `${start}${visibleChildCount(batch.view, folder)}}`;
}

/** A filter changes the length; a cursor belongs to one list and must be checked there. */
function isNarrowed({ filter, after, before }: Variables): boolean {
  return [filter, after, before].some((value) => value !== null && value !== undefined);
}

function connectionWriter(selections: Selections, field: SelectedField): ConnectionWriter {
  switch (field.name) {
    case 'totalCount':
      return {
        writeAll: (connections, run) =>
          run.readEach(field, connections, ({ totalCount }) => whenDone(totalCount, String)),
      };
    case 'pageInfo':
      return innerObject(
        new ObjectWriter(selections.inside(field), pageInfoWriter),
        (connection) => connection,
      );
    case 'items':
      return listWriter(field, planFolders(selections, field), edgesOf, ({ node }) => node);
    case 'edges': {
      const writer = new ObjectWriter(selections.inside(field), (inner) => edgeWriter(selections, inner));
      return listWriter(field, writer, edgesOf);
    }
    default:
      throw new UnplannableError();
  }
}

function edgesOf({ edges }: FolderConnection): PromiseOrValue<readonly FolderEdge[]> {
  return edges;
}

/** A field that returns a list for each object. Without `toElement`, the items of the list are the elements. */
function listWriter<T, Source, Element = Source>(
  field: SelectedField,
  writer: ObjectWriter<Element>,
  listOf: (object: T) => PromiseOrValue<readonly Source[]>,
  toElement?: (source: Source) => Element,
): FieldWriter<T> {
  return {
    writeAll: (objects, run) => {
      const lists = run.readEach(field, objects, (object) =>
        whenDone(listOf(object), (list) => {
          const charged = run.context.budget.spend(list, field.info);
          return toElement ? charged.map(toElement) : (charged as readonly unknown[] as readonly Element[]);
        }),
      );
      return whenDone(lists, (found) => listTexts(found, writer, run));
    },
  };
}

function edgeWriter(selections: Selections, field: SelectedField): FieldWriter<FolderEdge> {
  switch (field.name) {
    case 'cursor':
      return { write: ({ cursor }, run, index) => textOf(cursor, field, run, index) };
    case 'depth':
      return { write: ({ depth }) => String(depth) };
    case 'node':
      return innerObject(planFolders(selections, field), ({ node }) => node);
    default:
      throw new UnplannableError();
  }
}

/** The value of each of these fields is a boolean, a cursor or null. */
const pageInfoFields: ReadonlySet<string> = new Set<keyof PageInfo>([
  'hasNextPage',
  'hasPreviousPage',
  'startCursor',
  'endCursor',
]);

function pageInfoWriter(field: SelectedField): FieldWriter<PageInfo> {
  if (!pageInfoFields.has(field.name)) throw new UnplannableError();
  const name = field.name as keyof PageInfo;
  const write = (value: boolean | string | null, run: PlanRun, index: number) =>
    typeof value === 'string' ? run.nullable(() => textOf(value, field, run, index)) : String(value);
  return {
    writeAll: (pages, run) =>
      run.readEach(field, pages, (page, index) => whenDone(page[name], (value) => write(value, run, index))),
  };
}

function textOf(text: string, field: SelectedField, run: PlanRun, index: number): string {
  run.spendText(text, field, index);
  return quote(text);
}

function longText(field: SelectedField, name: 'icon' | 'description'): FolderWriter {
  return {
    load: textsFor(field),
    write(node, run, index) {
      const text = textsOf(node)[name];
      return text === null ? 'null' : run.nullable(() => textOf(text, field, run, index));
    },
  };
}

/** Loads the long texts for `textsOf`, once for each level. */
function textsFor(field: SelectedField) {
  return (nodes: readonly FolderNode[], run: PlanRun): PromiseOrValue<unknown> =>
    run.readEach(field, nodes, (node) => node.batch.textsOf(node));
}

function textsOf(node: FolderNode): LongTexts {
  return node.batch.textsOf(node) as LongTexts;
}

/** Loads the ancestors for `ancestorsOf`, once for each level. */
function ancestorsFor(field: SelectedField) {
  return (nodes: readonly FolderNode[], run: PlanRun): PromiseOrValue<unknown> =>
    run.readEach(field, nodes, (node) => node.ancestors);
}

function ancestorsOf(node: FolderNode): readonly FolderNode[] {
  return node.ancestors as readonly FolderNode[];
}
