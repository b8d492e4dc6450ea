/** What type a field has, by the schema. The query need not be valid: undefined says that there is no such field. */

import {
  isInterfaceType,
  isObjectType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';

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
