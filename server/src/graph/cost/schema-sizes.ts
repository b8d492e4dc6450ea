/** The types of fields, and the lengths of the lists of an introspection response. Nested lists multiply. */

import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  TypeMetaFieldDef,
  SchemaMetaFieldDef,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';

export interface SchemaSizes {
  /** The length of a list field of an introspection type; 1 for any other field. */
  lengthOf(fieldName: string): number;
}

/** Only names of introspection types begin with `__`. A comparison with each of these types would take long. */
export function isAboutSchema(type: GraphQLNamedType | undefined): boolean {
  return type !== undefined && type.name.startsWith('__');
}

/** The longest list of each kind. For `types`, the number of types of maximum size that would have all fields together. */
export function measureSchema(schema: GraphQLSchema): SchemaSizes {
  const types = Object.values(schema.getTypeMap());
  const withFields = types.filter((type) => isObjectType(type) || isInterfaceType(type));
  const inputs = types.filter(isInputObjectType);
  const fields = withFields.map((type) => Object.values(type.getFields()));
  const maxFields = longest(fields);
  const lengths: Readonly<Record<string, number>> = {
    types: Math.ceil(fields.flat().length / maxFields),
    fields: maxFields,
    args: longest(fields.flat().map(({ args }) => args)),
    inputFields: longest(inputs.map((type) => Object.keys(type.getFields()))),
    enumValues: longest(types.filter(isEnumType).map((type) => type.getValues())),
    interfaces: longest(withFields.map((type) => type.getInterfaces())),
    possibleTypes: longest(types.filter(isInterfaceType).map((type) => schema.getPossibleTypes(type))),
    directives: schema.getDirectives().length,
  };
  return { lengthOf: (fieldName) => (Object.hasOwn(lengths, fieldName) ? lengths[fieldName]! : 1) };
}

function longest(lists: readonly (readonly unknown[])[]): number {
  return lists.reduce((max, { length }) => Math.max(max, length), 1);
}

/** The query need not be valid: undefined if there is no such field. */
export function fieldTypeOf(
  schema: GraphQLSchema,
  parent: GraphQLNamedType | undefined,
  fieldName: string,
): GraphQLOutputType | undefined {
  if (!isObjectType(parent) && !isInterfaceType(parent)) return undefined;
  if (parent === schema.getQueryType()) {
    if (fieldName === SchemaMetaFieldDef.name) return SchemaMetaFieldDef.type;
    if (fieldName === TypeMetaFieldDef.name) return TypeMetaFieldDef.type;
  }
  const fields = parent.getFields();
  return Object.hasOwn(fields, fieldName) ? fields[fieldName]!.type : undefined;
}
