/** Generates selections that reach every field of the schema from a type. */

import {
  getNamedType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';

export interface WalkOptions {
  readonly schema: GraphQLSchema;
  /** The required arguments of fields, for example `first: 5`, by type and field. */
  readonly fieldArguments: Readonly<Record<string, string>>;
  /** The number of object fields on a path, without connections. */
  readonly maxDepth: number;
}

type Field = GraphQLField<unknown, unknown>;

/** Each selection follows one path of object fields, and selects all leaf fields at its end. */
export function listSelections(options: WalkOptions, { type }: Pick<Field, 'type'>): readonly string[] {
  const named = getNamedType(type);
  if (isLeafType(named)) return [''];
  if (isInterfaceType(named)) {
    const { objects } = options.schema.getImplementations(named);
    return objects.flatMap((object) =>
      walk(options, object, []).map((selection) => `{... on ${object.name}${selection}}`),
    );
  }
  return walk(options, requireObject(named), []);
}

function walk(options: WalkOptions, type: GraphQLObjectType, path: readonly string[]): readonly string[] {
  const fields = Object.values(type.getFields());
  const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)));
  const own = leaves.map((field) => formatField(options, type, field)).join(' ');
  const isList = /(Connection|Edge|Page)$/.test(type.name);
  const nextPath = isList ? path : [...path, type.name];
  const inner = fields.flatMap((field) => {
    const next = getNamedType(field.type);
    // The node of an edge is also an item of the list.
    if (isLeafType(next) || (type.name.endsWith('Edge') && field.name === 'node')) return [];
    const isRepeated = nextPath.filter((name) => name === next.name).length > 1;
    if (isRepeated || nextPath.length > options.maxDepth) return [];
    const start = formatField(options, type, field);
    return walk(options, requireObject(next), nextPath).map((selection) => `{${start}${selection}}`);
  });
  return own === '' ? inner : [`{${own}}`, ...inner];
}

function formatField({ fieldArguments }: WalkOptions, { name }: GraphQLObjectType, field: Field): string {
  const text = fieldArguments[`${name}.${field.name}`];
  if (text !== undefined) return `${field.name}(${text})`;
  const required = field.args.filter(
    ({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined,
  );
  if (required.length === 0) return field.name;
  throw new Error(`The field ${name}.${field.name} needs arguments. Add them to \`fieldArguments\`.`);
}

function requireObject(type: unknown): GraphQLObjectType {
  if (isObjectType(type)) return type;
  throw new Error(`The walk does not support the type ${String(type)}.`);
}
