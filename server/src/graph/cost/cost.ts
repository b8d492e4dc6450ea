/**
 * The cost of a query by its text alone: its fields with fragments expanded, and its depth. It is checked before
 * validation, which takes longer the higher both are. The folders of the response are counted during execution (`budget.ts`).
 */

import {
  getNamedType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type InlineFragmentNode,
  type NamedTypeNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { fieldTypeOf, isAboutSchema, type SchemaSizes } from './schema-sizes.ts';
import { weightOf } from './field-weights.ts';
import { tooExpensive, toFieldPath, type Excess } from './limits.ts';

export interface QueryCost {
  readonly fields: number;
  readonly depth: number;
  /** How many values an introspection response has. Only its lists have a known length. */
  readonly schemaValues: number;
}

type Definition = OperationDefinitionNode | FragmentDefinitionNode;
type ParentType = GraphQLNamedType | undefined;

interface TypedField {
  readonly node: FieldNode;
  /** The type that has the field. */
  readonly type: ParentType;
}

const nothing: QueryCost = { fields: 0, depth: 0, schemaValues: 0 };

/** Nested fragments can multiply without limit, so counting stops here. */
const maxCounted = 1_000_000_000;

/** Returns the weighted number of fields. Throws a `Refusal` if the document exceeds a budget. It need not be valid. */
export function checkCost(
  schema: GraphQLSchema,
  sizes: SchemaSizes,
  document: DocumentNode,
  budgets: QueryCost,
): number {
  const costs = new DocumentCosts(schema, sizes, document);
  let maxFields = 0;
  for (const definition of costs.definitions) {
    const cost = costs.ofDefinition(definition);
    maxFields = Math.max(maxFields, cost.fields);
    for (const measure of ['fields', 'depth', 'schemaValues'] as const) {
      if (cost[measure] <= budgets[measure]) continue;
      const field = costs.mostExpensiveField(definition, measure);
      throw refuse(measure, { field, cost: cost[measure], budget: budgets[measure] });
    }
  }
  return maxFields;
}

function refuse(measure: keyof QueryCost, excess: Excess) {
  const { field, cost, budget } = excess;
  const messages: Record<keyof QueryCost, string> = {
    fields: `The query selects ${cost} fields, most of them in ${field}; it may select ${budget}, counted with fragments expanded and costly fields weighted. Select fewer, or send several queries.`,
    depth: `The query is nested ${cost} levels deep in ${field}; it may have ${budget}. Ask for what lies deeper by the id of a folder, in another query.`,
    schemaValues: `The query asks for up to ${cost} values of the schema, most of them in ${field}; an answer may hold ${budget}. Ask for less at a time.`,
  };
  return tooExpensive(messages[measure], excess);
}

class DocumentCosts {
  /** With unused fragments: validation compares their fields, too. */
  readonly definitions: readonly Definition[];
  readonly #schema: GraphQLSchema;
  readonly #sizes: SchemaSizes;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #cache = new Map<SelectionSetNode, QueryCost>();

  constructor(schema: GraphQLSchema, sizes: SchemaSizes, { definitions }: DocumentNode) {
    const operations = definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
    const fragments = definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
    this.definitions = [...operations, ...fragments];
    this.#schema = schema;
    this.#sizes = sizes;
    this.#fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  }

  ofDefinition(definition: Definition): QueryCost {
    return this.#ofSet(definition.selectionSet, this.#typeOf(definition));
  }

  /** The innermost field that has more than half of the cost; if there is none, the operation or fragment. */
  mostExpensiveField(definition: Definition, measure: keyof QueryCost): string {
    const names: string[] = [];
    const seen = new Set<SelectionSetNode>();
    const half = this.ofDefinition(definition)[measure] / 2;
    let set: SelectionSetNode | undefined = definition.selectionSet;
    let type = this.#typeOf(definition);
    while (set) {
      const found: TypedField | undefined = this.#fieldsOf(set, type, seen).find(
        (each) => this.#ofField(each)[measure] > half,
      );
      if (!found) break;
      names.push(found.node.alias?.value ?? found.node.name.value);
      set = found.node.selectionSet;
      type = this.#typeBelow(found);
    }
    return toFieldPath(names.length > 0 ? names : [nameOf(definition)]);
  }

  #ofSet(set: SelectionSetNode, type: ParentType): QueryCost {
    const cached = this.#cache.get(set);
    if (cached) return cached;
    // A fragment that contains itself counts once; validation reports it.
    this.#cache.set(set, nothing);
    let total = nothing;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        total = plus(total, this.#ofField({ node: selection, type }));
      } else {
        const inner = this.#inside(selection, type);
        if (inner) total = plus(total, this.#ofSet(inner.set, inner.type));
      }
    }
    this.#cache.set(set, total);
    return total;
  }

  #ofField(field: TypedField): QueryCost {
    const { node, type } = field;
    const below = node.selectionSet ? this.#ofSet(node.selectionSet, this.#typeBelow(field)) : nothing;
    const isMutation = type !== undefined && type === this.#schema.getMutationType();
    const own = { fields: weightOf(node.name.value, isMutation), depth: below.depth + 1, schemaValues: 0 };
    if (!isAboutSchema(type)) return plus(own, below);
    const schemaValues = below.schemaValues * this.#sizes.lengthOf(node.name.value) + 1;
    return plus({ ...own, schemaValues }, { ...below, schemaValues: 0 });
  }

  /** The fields of a selection set and of the fragments in it, each fragment once. */
  #fieldsOf(set: SelectionSetNode, type: ParentType, seen: Set<SelectionSetNode>): TypedField[] {
    if (seen.has(set)) return [];
    seen.add(set);
    return set.selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [{ node: selection, type }];
      const inner = this.#inside(selection, type);
      return inner ? this.#fieldsOf(inner.set, inner.type, seen) : [];
    });
  }

  #inside(
    fragment: InlineFragmentNode | FragmentSpreadNode,
    type: ParentType,
  ): { set: SelectionSetNode; type: ParentType } | undefined {
    if (fragment.kind === Kind.INLINE_FRAGMENT) {
      const { selectionSet, typeCondition } = fragment;
      return { set: selectionSet, type: typeCondition ? this.#typeNamed(typeCondition) : type };
    }
    const definition = this.#fragments.get(fragment.name.value);
    return definition && { set: definition.selectionSet, type: this.#typeNamed(definition.typeCondition) };
  }

  #typeOf(definition: Definition): ParentType {
    return definition.kind === Kind.OPERATION_DEFINITION
      ? (this.#schema.getRootType(definition.operation) ?? undefined)
      : this.#typeNamed(definition.typeCondition);
  }

  #typeNamed({ name }: NamedTypeNode): ParentType {
    return this.#schema.getType(name.value);
  }

  #typeBelow({ node, type }: TypedField): ParentType {
    return getNamedType(fieldTypeOf(this.#schema, type, node.name.value));
  }
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
