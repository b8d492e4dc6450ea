/** How long the lists are that an introspection query meets. Nested in each other, they multiply. */

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
  /** Of the list that a field of an introspection type holds; 1 if it holds none. */
  lengthOf(fieldName: string): number;
}

/** By its name, which nothing else may begin like that: to compare it with those of all introspection types takes long. */
export function isAboutSchema(type: GraphQLNamedType | undefined): boolean {
  return type !== undefined && type.name.startsWith('__');
}

/** The longest list of each kind; and as many types as would hold all fields if each had as many as the largest. */
export function measureSchema(schema: GraphQLSchema): SchemaSizes {
  const types = Object.values(schema.getTypeMap());
  const withFields = types.filter((type) => isObjectType(type) || isInterfaceType(type));
  const inputs = types.filter(isInputObjectType);
  const fields = withFields.map((type) => Object.values(type.getFields()));
  const mostFields = longest(fields);
  const lengths: Readonly<Record<string, number>> = {
    types: Math.ceil(fields.flat().length / mostFields),
    fields: mostFields,
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
  return lists.reduce((most, { length }) => Math.max(most, length), 1);
}
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
