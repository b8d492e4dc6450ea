/** Reads the fields that a query selects from a type, with fragments expanded and @skip and @include applied. */

import {
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isAbstractType,
  isListType,
  isNullableType,
  Kind,
  visit,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

export type Variables = Readonly<Record<string, unknown>>;

/** Thrown for a query that no plan covers: graphql-js executes it. */
export class UnplannableError extends Error {}

/** A field that a query selects. Resolvers, budgets and errors use its `info`. */
export interface SelectedField {
  /** The key in the response. */
  readonly key: string;
  readonly name: string;
  /** Undefined for `__typename`. */
  readonly definition: GraphQLField<unknown, unknown> | undefined;
  /** In its path, each list has the index 0. */
  readonly info: GraphQLResolveInfo;
  readonly argumentsIn: (variables: Variables) => Variables;
}

/** Reads the selections of one operation. `variables` decide only which fields are selected. */
export class Selections {
  readonly #schema: GraphQLSchema;
  readonly #operation: OperationDefinitionNode;
  readonly #variables: Variables;
  readonly #fragments = Object.create(null) as Record<string, FragmentDefinitionNode>;
  /** How many fields have been read. */
  size = 0;

  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Variables,
  ) {
    this.#schema = schema;
    this.#operation = operation;
    this.#variables = variables;
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.#fragments[definition.name.value] = definition;
    }
  }

  ofOperation(): SelectedField[] {
    const type = this.#schema.getQueryType()!;
    return this.#fieldsOf(type, [this.#operation.selectionSet], undefined);
  }

  /** The fields that the query selects from the objects that a field returns. */
  inside({ info }: SelectedField): SelectedField[] {
    const { returnType, fieldNodes } = info;
    const named = getNamedType(returnType);
    const [type, ...others] = isAbstractType(named)
      ? this.#schema.getPossibleTypes(named)
      : [named as GraphQLObjectType];
    if (!type || others.length > 0) throw new UnplannableError();
    const path = isListType(getNullableType(returnType))
      ? { prev: info.path, key: 0, typename: undefined }
      : info.path;
    const sets = fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return this.#fieldsOf(type, sets, path);
  }

  #fieldsOf(
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
    prev: GraphQLResolveInfo['path'] | undefined,
  ): SelectedField[] {
    const nodes = new Map<string, FieldNode[]>();
    const seen = new Set<string>();
    for (const set of sets) this.#collect(type, set, nodes, seen);
    return [...nodes].map(([key, fieldNodes]) => this.#fieldOf(type, key, fieldNodes, prev));
  }

  #collect(
    type: GraphQLObjectType,
    { selections }: SelectionSetNode,
    nodes: Map<string, FieldNode[]>,
    seen: Set<string>,
  ): void {
    for (const selection of selections) {
      if (!this.#isIncluded(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const merged = nodes.get(key);
        if (merged) merged.push(selection);
        else nodes.set(key, [selection]);
        continue;
      }
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      if (isSpread && seen.has(selection.name.value)) continue;
      if (isSpread) seen.add(selection.name.value);
      const fragment = isSpread ? this.#fragments[selection.name.value] : selection;
      if (fragment && this.#applies(type, fragment.typeCondition?.name.value)) {
        this.#collect(type, fragment.selectionSet, nodes, seen);
      }
    }
  }

  #isIncluded(node: SelectionNode): boolean {
    if (!node.directives?.length) return true;
    const skip = getDirectiveValues(GraphQLSkipDirective, node, this.#variables);
    const include = getDirectiveValues(GraphQLIncludeDirective, node, this.#variables);
    return skip?.['if'] !== true && include?.['if'] !== false;
  }

  #applies(type: GraphQLObjectType, condition: string | undefined): boolean {
    if (condition === undefined || condition === type.name) return true;
    const named = this.#schema.getType(condition);
    return isAbstractType(named) && this.#schema.isSubType(named, type);
  }

  #fieldOf(
    parentType: GraphQLObjectType,
    key: string,
    fieldNodes: readonly FieldNode[],
    prev: GraphQLResolveInfo['path'] | undefined,
  ): SelectedField {
    this.size++;
    const name = fieldNodes[0]!.name.value;
    const definition = parentType.getFields()[name];
    // The field is `__schema` or `__type`.
    if (!definition && name !== '__typename') throw new UnplannableError();
    const info: GraphQLResolveInfo = {
      fieldName: name,
      fieldNodes,
      returnType: definition?.type as GraphQLResolveInfo['returnType'],
      parentType,
      path: { prev, key, typename: parentType.name },
      schema: this.#schema,
      fragments: this.#fragments,
      rootValue: undefined,
      operation: this.#operation,
      // Resolvers receive their arguments and do not read variables.
      variableValues: {},
    };
    return { key, name, definition, info, argumentsIn: argumentsOf(definition, fieldNodes[0]!) };
  }
}

/** Arguments without variables are the same in every run. */
function argumentsOf(
  definition: GraphQLField<unknown, unknown> | undefined,
  node: FieldNode,
): SelectedField['argumentsIn'] {
  if (!definition) return () => noArguments;
  const { arguments: input = [] } = node;
  if (!hasVariables(input)) {
    const constant = Object.freeze(getArgumentValues(definition, node));
    return () => constant;
  }
  const names = input.flatMap(({ name, value }) =>
    value.kind === Kind.VARIABLE ? [[name.value, value.name.value] as const] : [],
  );
  const isSimple =
    names.length === input.length &&
    definition.args.every(({ type, defaultValue }) => isNullableType(type) && defaultValue === undefined);
  if (!isSimple) return (variables) => getArgumentValues(definition, node, variables);
  // All arguments are variables, and none has a default or is required. Their values are therefore the values of the variables.
  return (variables) => {
    const values: Record<string, unknown> = {};
    for (const [name, variable] of names) {
      if (Object.hasOwn(variables, variable)) values[name] = variables[variable];
    }
    return values;
  };
}

const noArguments: Variables = Object.freeze({});

function hasVariables(input: readonly ArgumentNode[]): boolean {
  let has = false;
  for (const argument of input) visit(argument, { Variable: () => void (has = true) });
  return has;
}
