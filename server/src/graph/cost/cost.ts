/**
 * Computes the cost of a query from its text alone: its fields with fragments expanded, its depth, and the values of the schema
 * that it requests. The cost is checked before validation, because validating an expensive query takes long. `budget.ts` counts the
 * folders of the response during execution.
 */

import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  OperationTypeNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLSchema,
  type InlineFragmentNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { tooExpensive, toFieldPath, type Excess } from './limits.ts';

export interface QueryCost {
  readonly fields: number;
  readonly depth: number;
  /** The estimated size of an introspection response. The lists of the schema have known lengths; lists of folders do not. */
  readonly schemaValues: number;
}

/** The maximum of each measure of the cost. */
export type CostLimits = QueryCost;

type Definition = OperationDefinitionNode | FragmentDefinitionNode;
type Fragment = InlineFragmentNode | FragmentSpreadNode;

/** The type around the fields of a selection set, which affects their cost. */
type Parent = 'mutation' | 'introspection' | 'other';

interface SelectedField {
  readonly node: FieldNode;
  readonly parent: Parent;
}

const nothing: QueryCost = { fields: 0, depth: 0, schemaValues: 0 };

const mutationType = 'Mutation';
const introspectionFields: ReadonlySet<string> = new Set(['__schema', '__type']);

/** Nested fragments can multiply without limit, so counting stops here. */
const maxCounted = 1_000_000_000;

/**
 * Returns the largest weighted number of fields of any operation or fragment. Throws a `Refusal` if the document exceeds a limit. The
 * document need not be valid.
 */
export function checkCost(sizes: SchemaSizes, document: DocumentNode, limits: CostLimits): number {
  const costs = new DocumentCosts(sizes, document);
  let maxFields = 0;
  for (const definition of costs.definitions) {
    const cost = costs.ofDefinition(definition);
    maxFields = Math.max(maxFields, cost.fields);
    for (const measure of ['fields', 'depth', 'schemaValues'] as const) {
      if (cost[measure] <= limits[measure]) continue;
      const field = costs.mostExpensiveField(definition, measure);
      throw refuse(measure, { field, cost: cost[measure], limit: limits[measure] });
    }
  }
  return maxFields;
}

function refuse(measure: keyof QueryCost, excess: Excess) {
  const { field, cost, limit } = excess;
  const messages: Record<keyof QueryCost, string> = {
    fields: `The query selects ${cost} fields, mostly in ${field}; the limit is ${limit}. Each use of a fragment counts, and expensive fields count several times. Select fewer fields, or send several queries.`,
    depth: `The query is nested ${cost} levels deep in ${field}; the limit is ${limit}. Request deeper folders by their id in another query.`,
    schemaValues: `The query requests up to ${cost} values of the schema, mostly in ${field}; the limit is ${limit}. Request fewer values at a time.`,
  };
  return tooExpensive(messages[measure], excess);
}

class DocumentCosts {
  /** Includes unused fragments, because validation also compares their fields. */
  readonly definitions: readonly Definition[];
  readonly #sizes: SchemaSizes;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #cache = new Map<SelectionSetNode, QueryCost>();

  constructor(sizes: SchemaSizes, { definitions }: DocumentNode) {
    const operations = definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
    const fragments = definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
    this.definitions = [...operations, ...fragments];
    this.#sizes = sizes;
    this.#fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  }

  ofDefinition(definition: Definition): QueryCost {
    return this.#ofSet(definition.selectionSet, parentIn(definition));
  }

  /** The innermost field that has more than half of the cost; if there is none, the operation or fragment. */
  mostExpensiveField(definition: Definition, measure: keyof QueryCost): string {
    const names: string[] = [];
    const seen = new Set<SelectionSetNode>();
    const half = this.ofDefinition(definition)[measure] / 2;
    let set: SelectionSetNode | undefined = definition.selectionSet;
    let parent = parentIn(definition);
    while (set) {
      const found: SelectedField | undefined = this.#fieldsOf(set, parent, seen).find(
        (each) => this.#ofField(each)[measure] > half,
      );
      if (!found) break;
      names.push(found.node.alias?.value ?? found.node.name.value);
      set = found.node.selectionSet;
      parent = parentBelow(found);
    }
    return toFieldPath(names.length > 0 ? names : [nameOf(definition)]);
  }

  #ofSet(set: SelectionSetNode, parent: Parent): QueryCost {
    const cached = this.#cache.get(set);
    if (cached) return cached;
    // A fragment that contains itself counts once; validation reports it.
    this.#cache.set(set, nothing);
    let total = nothing;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        total = plus(total, this.#ofField({ node: selection, parent }));
      } else {
        const inner = this.#expand(selection);
        if (inner) total = plus(total, this.#ofSet(inner.selectionSet, parentIn(inner, parent)));
      }
    }
    this.#cache.set(set, total);
    return total;
  }

  #ofField(field: SelectedField): QueryCost {
    const { node, parent } = field;
    const below = node.selectionSet ? this.#ofSet(node.selectionSet, parentBelow(field)) : nothing;
    const fields = weightOf(node.name.value, parent === 'mutation');
    const own = { fields, depth: below.depth + 1, schemaValues: 0 };
    if (parent !== 'introspection') return plus(own, below);
    const schemaValues = below.schemaValues * (this.#sizes.get(node.name.value) ?? 1) + 1;
    return plus({ ...own, schemaValues }, { ...below, schemaValues: 0 });
  }

  /** The fields of a selection set and of the fragments in it, each fragment once. */
  #fieldsOf(set: SelectionSetNode, parent: Parent, seen: Set<SelectionSetNode>): SelectedField[] {
    if (seen.has(set)) return [];
    seen.add(set);
    return set.selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [{ node: selection, parent }];
      const inner = this.#expand(selection);
      return inner ? this.#fieldsOf(inner.selectionSet, parentIn(inner, parent), seen) : [];
    });
  }

  #expand(fragment: Fragment): InlineFragmentNode | FragmentDefinitionNode | undefined {
    return fragment.kind === Kind.INLINE_FRAGMENT ? fragment : this.#fragments.get(fragment.name.value);
  }
}

/** The parent of the fields in an operation or a fragment. `around` is the parent of an inline fragment. */
function parentIn(node: Definition | InlineFragmentNode, around: Parent = 'other'): Parent {
  if (node.kind === Kind.OPERATION_DEFINITION) {
    return node.operation === OperationTypeNode.MUTATION ? 'mutation' : 'other';
  }
  const typeName = node.typeCondition?.name.value;
  if (typeName === undefined) return around;
  if (typeName === mutationType) return 'mutation';
  // Only names of introspection types begin with `__`.
  return typeName.startsWith('__') ? 'introspection' : 'other';
}

function parentBelow({ node, parent }: SelectedField): Parent {
  return parent === 'introspection' || introspectionFields.has(node.name.value) ? 'introspection' : 'other';
}

function plus(a: QueryCost, b: QueryCost): QueryCost {
  return {
    fields: Math.min(a.fields + b.fields, maxCounted),
    depth: Math.max(a.depth, b.depth),
    schemaValues: Math.min(a.schemaValues + b.schemaValues, maxCounted),
  };
}

function nameOf(definition: Definition): string {
  if (definition.kind === Kind.FRAGMENT_DEFINITION) return definition.name.value;
  return definition.name?.value ?? definition.operation;
}

/**
 * The weights of fields that run a statement or take arguments, by field name for all types. All other fields have the weight
 * 1. Some weights of 1 are listed, because a test requires an entry for every root field and every field with arguments.
 */
export const weights: Readonly<Record<string, number>> = {
  // These read one row, or share one read for a whole level of the tree.
  folder: 1,
  folders: 1,
  node: 1,
  user: 1,
  group: 1,
  apiKey: 1,
  viewer: 1,
  cursor: 1,
  // These read many rows for one value of the response.
  search: 50,
  changes: 50,
  journal: 50,
  folderChanges: 20,
  exportFolders: 100,
  trash: 20,
  users: 5,
  groups: 5,
  members: 5,
  sessions: 5,
  activity: 5,
  descendants: 5,
  position: 5,
  grants: 5,
  sharedFolders: 5,
  favorites: 5,
  recentFolders: 5,
  access: 5,
  accessChanges: 5,
  identities: 5,
  apiKeys: 5,
  signIns: 5,
  refreshes: 10,
  server: 5,
  gauges: 20,
  explainAccess: 20,
  effectiveAccess: 20,
  moveFolder: 20,
  // These hash a password: 34 ms of CPU each.
  createUser: 50,
  resetPassword: 50,
  changePassword: 50,
};

/** Each mutation is a transaction, and only one transaction can write at a time. */
const minMutationWeight = 5;

export function weightOf(fieldName: string, isMutation: boolean): number {
  const weight = Object.hasOwn(weights, fieldName) ? weights[fieldName]! : 1;
  return isMutation ? Math.max(weight, minMutationWeight) : weight;
}

/** The length of each list field of an introspection type. Nested lists multiply. */
export type SchemaSizes = ReadonlyMap<string, number>;

/**
 * Returns the length of the longest list of each kind. For `types`, returns the number of all fields divided by the length of
 * the longest field list, so
 * that the product of `types` and `fields` is about the number of all fields.
 */
export function measureSchema(schema: GraphQLSchema): SchemaSizes {
  const types = Object.values(schema.getTypeMap());
  const withFields = types.filter((type) => isObjectType(type) || isInterfaceType(type));
  const inputs = types.filter(isInputObjectType);
  const fields = withFields.map((type) => Object.values(type.getFields()));
  const maxFields = maxLength(fields);
  return new Map([
    ['types', Math.ceil(fields.flat().length / maxFields)],
    ['fields', maxFields],
    ['args', maxLength(fields.flat().map(({ args }) => args))],
    ['inputFields', maxLength(inputs.map((type) => Object.keys(type.getFields())))],
    ['enumValues', maxLength(types.filter(isEnumType).map((type) => type.getValues()))],
    ['interfaces', maxLength(withFields.map((type) => type.getInterfaces()))],
    ['possibleTypes', maxLength(types.filter(isInterfaceType).map((type) => schema.getPossibleTypes(type)))],
    ['directives', schema.getDirectives().length],
  ]);
}

function maxLength(lists: readonly (readonly unknown[])[]): number {
  return lists.reduce((max, { length }) => Math.max(max, length), 1);
}
