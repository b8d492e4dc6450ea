/** Works out, once for a query, which fields it reads of which type: what graphql-js does for every value anew. */

import {
  defaultFieldResolver,
  getArgumentValues,
  getNamedType,
  isAbstractType,
  isLeafType,
  Kind,
  visit,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';
import {
  columnOf,
  constantColumn,
  leafColumn,
  objectColumn,
  resolvedColumn,
  type Column,
  type FieldColumn,
} from './columns.ts';

/** What differs from run to run. */
export interface Run {
  readonly context: unknown;
  readonly variables: Variables;
}

export type Variables = Readonly<Record<string, unknown>>;

export interface Plan {
  /** Of one value that stands for nothing, the text of `data`. */
  readonly data: Column<Run>;
  /** What it holds, counted in fields. */
  readonly size: number;
}

/** Thrown for what is left to graphql-js. */
export class Unplanned extends Error {}

/** `variables` decide which fields there are, where the query leaves that to them. */
export function planQuery(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): Plan {
  const fragments = fragmentsOf(document);
  let size = 0;
  const query = schema.getQueryType()!;
  const data = objectOf(query, collectFields(schema, fragments, variables, query, operation.selectionSet));
  return { data, size };

  function objectOf(
    type: GraphQLObjectType,
    selected: ReadonlyMap<string, readonly FieldNode[]>,
    path?: GraphQLResolveInfo['path'],
  ): Column<Run> {
    if (type.isTypeOf) throw new Unplanned();
    return objectColumn([...selected].map(([name, nodes]) => fieldOf(type, name, nodes, path)));
  }

  function fieldOf(
    parentType: GraphQLObjectType,
    name: string,
    fieldNodes: readonly FieldNode[],
    prev: GraphQLResolveInfo['path'] | undefined,
  ): FieldColumn<Run> {
    size++;
    const fieldName = fieldNodes[0]!.name.value;
    if (fieldName === '__typename') return { name, read: constantColumn(JSON.stringify(parentType.name)) };
    const field = parentType.getFields()[fieldName];
    // Introspection, which nobody asks for often.
    if (!field) throw new Unplanned();
    const path = { prev, key: name, typename: parentType.name };
    const info: GraphQLResolveInfo = {
      fieldName,
      fieldNodes,
      returnType: field.type,
      parentType,
      path,
      schema,
      fragments,
      rootValue: undefined,
      operation,
      // Resolvers are handed their arguments: none asks for them here.
      variableValues: {},
    };
    return { name, read: resolvedColumn(resolverOf(field, info), columnOf(field.type, namedOf(info))) };
  }

  function namedOf({ returnType, fieldNodes, path }: GraphQLResolveInfo): Column<Run> {
    const named = getNamedType(returnType);
    if (isLeafType(named)) return leafColumn(named);
    const possible = isAbstractType(named) ? schema.getPossibleTypes(named) : [named as GraphQLObjectType];
    const [type, ...others] = possible;
    if (!type || others.length > 0) throw new Unplanned();
    return objectOf(type, collectSubfields(schema, fragments, variables, type, fieldNodes), path);
  }
}

function fragmentsOf({ definitions }: DocumentNode): Record<string, FragmentDefinitionNode> {
  const fragments = Object.create(null) as Record<string, FragmentDefinitionNode>;
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  return fragments;
}

/** Arguments without variables are the same every time. */
function resolverOf(field: GraphQLField<unknown, unknown>, info: GraphQLResolveInfo) {
  const { resolve = defaultFieldResolver } = field;
  const node = info.fieldNodes[0]!;
  if (!hasVariables(node)) {
    const constant = Object.freeze(getArgumentValues(field, node));
    return ({ context }: Run) =>
      (object: unknown) =>
        resolve(object, constant, context, info);
  }
  return ({ context, variables }: Run) => {
    const given = getArgumentValues(field, node, variables);
    return (object: unknown) => resolve(object, given, context, info);
  };
}

function hasVariables({ arguments: given = [] }: FieldNode): boolean {
  let has = false;
  for (const argument of given) visit(argument, { Variable: () => void (has = true) });
  return has;
}
