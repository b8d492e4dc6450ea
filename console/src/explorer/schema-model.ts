/** Converts the GraphQL schema to the model of its page, and searches it. */

export const schemaDocument = /* GraphQL */ `
  query ApiSchema {
    __schema {
      queryType {
        name
      }
      mutationType {
        name
      }
      subscriptionType {
        name
      }
      types {
        kind
        name
        description
        fields {
          name
          description
          args {
            name
            description
            defaultValue
            type {
              ...TypeText
            }
          }
          type {
            ...TypeText
          }
        }
        inputFields {
          name
          description
          defaultValue
          type {
            ...TypeText
          }
        }
        enumValues {
          name
          description
        }
      }
    }
  }

  fragment TypeText on __Type {
    kind
    name
    ofType {
      kind
      name
      ofType {
        kind
        name
        ofType {
          kind
          name
        }
      }
    }
  }
`;

export interface TypeRef {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType?: TypeRef | null;
}

export interface SchemaInput {
  readonly name: string;
  readonly description: string | null;
  readonly defaultValue: string | null;
  readonly type: TypeRef;
}

export interface SchemaField {
  readonly name: string;
  readonly description: string | null;
  readonly args: readonly SchemaInput[];
  readonly type: TypeRef;
}

export interface SchemaType {
  readonly kind: string;
  readonly name: string;
  readonly description: string | null;
  readonly fields: readonly SchemaField[] | null;
  readonly inputFields: readonly SchemaInput[] | null;
  readonly enumValues: readonly { readonly name: string; readonly description: string | null }[] | null;
}

export interface SchemaResponse {
  readonly __schema: {
    readonly queryType: { readonly name: string };
    readonly mutationType: { readonly name: string } | null;
    readonly subscriptionType: { readonly name: string } | null;
    readonly types: readonly SchemaType[];
  };
}

export interface SchemaView {
  readonly operations: readonly { readonly label: string; readonly fields: readonly SchemaField[] }[];
  /** Without the root types of operations and GraphQL's own types. */
  readonly types: readonly SchemaType[];
}

export function createSchemaView({ __schema }: SchemaResponse): SchemaView {
  const { queryType, mutationType, subscriptionType, types } = __schema;
  const roots = [
    ['Queries', queryType],
    ['Mutations', mutationType],
    ['Subscriptions', subscriptionType],
  ] as const;
  const rootNames = new Set(roots.map(([, root]) => root?.name));
  return {
    operations: roots.map(([label, root]) => ({
      label,
      fields: types.find(({ name }) => name === root?.name)?.fields ?? [],
    })),
    types: types
      .filter(({ name }) => !name.startsWith('__') && !rootNames.has(name))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

/** Keeps the types and operations whose name, or the name of a field, argument or value, contains the text. */
export function searchSchema(view: SchemaView, text: string): SchemaView {
  const searchText = text.trim().toLowerCase();
  if (searchText === '') return view;
  const matches = (name: string) => name.toLowerCase().includes(searchText);
  return {
    operations: view.operations.map(({ label, fields }) => ({
      label,
      fields: fields.filter(({ name, args }) => matches(name) || args.some((arg) => matches(arg.name))),
    })),
    types: view.types.filter(
      ({ name, fields, inputFields, enumValues }) =>
        matches(name) ||
        [fields, inputFields, enumValues].some((parts) => parts?.some((part) => matches(part.name))),
    ),
  };
}

/** Splits a type into its name and the list and non-null notation around it. */
export function splitType(type: TypeRef): {
  readonly before: string;
  readonly name: string;
  readonly after: string;
} {
  if (type.kind === 'NON_NULL') {
    const { before, name, after } = splitType(type.ofType!);
    return { before, name, after: `${after}!` };
  }
  if (type.kind === 'LIST') {
    const { before, name, after } = splitType(type.ofType!);
    return { before: `[${before}`, name, after: `${after}]` };
  }
  return { before: '', name: type.name ?? '', after: '' };
}
