/** Marks on fields and arguments of the schema, and cached checks of documents against them. */

import {
  getNullableType,
  isListType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';

/** Marks a field that may take long. A response that selects such a field is a long read. */
export const longField = { isLong: true } as const;
/** Marks a field whose value depends on the viewer, not only on the viewer's rights. */
export const personalField = { isPersonal: true } as const;
/** Marks an argument that only sets where a subscription starts: the content of the responses does not depend on it. */
export const startArgument = { isStart: true } as const;

type Field = GraphQLField<unknown, unknown>;

export const isLongField = ({ extensions }: Field): boolean => extensions['isLong'] === true;
export const isPersonalField = ({ extensions }: Field): boolean => extensions['isPersonal'] === true;
export const isListField = ({ type }: Field): boolean => isListType(getNullableType(type));

/** Returns a function that checks whether a document selects a matching field. */
export function createFieldCheck(
  schema: GraphQLSchema,
  matches: (field: Field, node: FieldNode) => boolean,
): (document: DocumentNode) => boolean {
  return cacheByDocument((document) => {
    let isSelected = false;
    const typeInfo = new TypeInfo(schema);
    const enter = (node: FieldNode) => {
      const field = typeInfo.getFieldDef();
      isSelected ||= !!field && matches(field, node);
    };
    visit(document, visitWithTypeInfo(typeInfo, { Field: { enter } }));
    return isSelected;
  });
}

/** Returns a function that lists the variables of a document, except variables that are used only in start arguments. */
export function createVariableList(schema: GraphQLSchema): (document: DocumentNode) => readonly string[] {
  return cacheByDocument((document) => {
    const names = new Set<string>();
    const typeInfo = new TypeInfo(schema);
    const isStart = () => typeInfo.getArgument()?.extensions['isStart'] === true;
    visit(
      document,
      visitWithTypeInfo(typeInfo, {
        VariableDefinition: () => false,
        Argument: () => (isStart() ? false : undefined),
        Variable: ({ name }) => void names.add(name.value),
      }),
    );
    return [...names].sort();
  });
}

function cacheByDocument<T>(compute: (document: DocumentNode) => T): (document: DocumentNode) => T {
  const cache = new WeakMap<DocumentNode, { readonly result: T }>();
  return (document) => {
    let cached = cache.get(document);
    if (!cached) cache.set(document, (cached = { result: compute(document) }));
    return cached.result;
  };
}
