/** Works out, once for a query, which fields it reads of which type: what graphql-js does for every value anew. */

import {
  defaultFieldResolver,
  getArgumentValues,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
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
import type { PromiseOrValue } from '../../database/database.ts';
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
  /** The whole answer at once, where that may be possible. */
  readonly whole: MakeWhole | undefined;
  /** What it holds, counted in fields. */
  readonly size: number;
}

/** A field of the query, as far as it is known beforehand. */
export interface PlannedField {
  /** By which the answer has it. */
  readonly key: string;
  readonly name: string;
  /** Its text, where that is always the same. */
  readonly constant?: string;
  readonly info: GraphQLResolveInfo;
  /** Its arguments. */
  readonly givenIn: (variables: Variables) => Variables;
  readonly selected: readonly PlannedField[];
}

/** The texts of a field of several objects, all at once; undefined if it has to be resolved after all. */
export type MakeText = (
  objects: readonly unknown[],
  given: Readonly<Record<string, unknown>>,
  context: unknown,
) => PromiseOrValue<readonly string[]> | undefined;

/** The text of an answer, with what there is beside a context; undefined if the plan has to be followed after all. */
export type MakeWhole = (variables: Variables, services: unknown, userId: string) => string | undefined;

/** Of a field: what may be done instead of resolving it, if it selects the right things. */
export interface PlanExtensions {
  /** Of a field that is asked for by itself. */
  readonly planWhole?: (field: PlannedField) => MakeWhole | undefined;
  readonly planText?: (field: PlannedField) => MakeText | undefined;
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
  const selected = collectFields(schema, fragments, variables, query, operation.selectionSet);
  const data = objectOf(query, selected);
  return { data, whole: wholeOf(query, selected), size };

  function wholeOf(
    type: GraphQLObjectType,
    selected: ReadonlyMap<string, readonly FieldNode[]>,
  ): MakeWhole | undefined {
    const [[key, nodes] = [], ...others] = selected;
    const info = key !== undefined && others.length === 0 && infoOf(type, key, nodes!, undefined);
    if (!info) return undefined;
    const { planWhole } = type.getFields()[info.fieldName]!.extensions as PlanExtensions;
    return planWhole?.(plannedField(key, info));
  }

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
    const info = infoOf(parentType, name, fieldNodes, prev);
    if (!info) return { name, read: constantColumn(JSON.stringify(parentType.name)) };
    const field = parentType.getFields()[info.fieldName]!;
    const givenIn = argumentsOf(field, fieldNodes[0]!);
    const resolverOf = resolversOf(field, givenIn, info);
    const resolved = resolvedColumn(resolverOf, columnOf(field.type, namedOf(info)));
    const { planText } = field.extensions as PlanExtensions;
    const makeText = planText?.(plannedField(name, info));
    if (!makeText) return { name, read: resolved };
    return {
      name,
      read: (objects, run) =>
        makeText(objects, givenIn(run.variables), run.context) ?? resolved(objects, run),
    };
  }

  function plannedField(key: string, info: GraphQLResolveInfo): PlannedField {
    const type = getNamedType(info.returnType);
    const selected = isObjectType(type)
      ? [...collectSubfields(schema, fragments, variables, type, info.fieldNodes)]
      : [];
    return {
      key,
      name: info.fieldName,
      info,
      givenIn: argumentsOf(info.parentType.getFields()[info.fieldName]!, info.fieldNodes[0]!),
      selected: selected.map(([name, nodes]) => plannedInside(type as GraphQLObjectType, name, nodes, info)),
    };
  }

  function plannedInside(
    type: GraphQLObjectType,
    key: string,
    fieldNodes: readonly FieldNode[],
    outer: GraphQLResolveInfo,
  ): PlannedField {
    const info = infoOf(type, key, fieldNodes, outer.path);
    if (info) return plannedField(key, info);
    const constant = JSON.stringify(type.name);
    return { key, name: '__typename', constant, info: outer, givenIn: (given) => given, selected: [] };
  }

  /** Undefined for the name of the type, which needs none. */
  function infoOf(
    parentType: GraphQLObjectType,
    key: string,
    fieldNodes: readonly FieldNode[],
    prev: GraphQLResolveInfo['path'] | undefined,
  ): GraphQLResolveInfo | undefined {
    const fieldName = fieldNodes[0]!.name.value;
    if (fieldName === '__typename') return undefined;
    const field = parentType.getFields()[fieldName];
    // Introspection, which nobody asks for often.
    if (!field) throw new Unplanned();
    return {
      fieldName,
      fieldNodes,
      returnType: field.type,
      parentType,
      path: { prev, key, typename: parentType.name },
      schema,
      fragments,
      rootValue: undefined,
      operation,
      // Resolvers are handed their arguments: none asks for them here.
      variableValues: {},
    };
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

function resolversOf(
  { resolve = defaultFieldResolver }: GraphQLField<unknown, unknown>,
  givenIn: PlannedField['givenIn'],
  info: GraphQLResolveInfo,
) {
  return ({ variables, context }: Run) => {
    const given = givenIn(variables);
    return (object: unknown) => resolve(object, given, context, info);
  };
}

/** Arguments without variables are the same every time. */
function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): PlannedField['givenIn'] {
  if (hasVariables(node)) return (variables) => getArgumentValues(field, node, variables);
  const constant = Object.freeze(getArgumentValues(field, node));
  return () => constant;
}

function hasVariables({ arguments: given = [] }: FieldNode): boolean {
  let has = false;
  for (const argument of given) visit(argument, { Variable: () => void (has = true) });
  return has;
}
