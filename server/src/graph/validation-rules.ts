/**
 * Selects the validation rules for a query, and counts the comparisons that validation takes. Validation is most of the cost of
 * a new query, because each rule visits every node. So only the rules that a query can break are selected. For example, a rule
 * about fragments is not needed if the text has none.
 */

import {
  FragmentsOnCompositeTypesRule,
  GraphQLError,
  Kind,
  KnownDirectivesRule,
  KnownFragmentNamesRule,
  KnownTypeNamesRule,
  NoFragmentCyclesRule,
  NoUndefinedVariablesRule,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  OperationTypeNode,
  OverlappingFieldsCanBeMergedRule,
  PossibleFragmentSpreadsRule,
  SingleFieldSubscriptionsRule,
  specifiedRules,
  UniqueDirectivesPerLocationRule,
  UniqueFragmentNamesRule,
  UniqueVariableNamesRule,
  VariablesAreInputTypesRule,
  VariablesInAllowedPositionRule,
  type ASTVisitor,
  type DocumentNode,
  type FragmentDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';

interface MarkedRules {
  /** Every query that can break one of the rules contains one of these texts. Other queries may contain them as well. */
  readonly marks: readonly string[];
  readonly rules: readonly ValidationRule[];
}

const fragments = ['...', 'fragment'];

const markedRules: readonly MarkedRules[] = [
  {
    marks: ['$'],
    rules: [
      NoUndefinedVariablesRule,
      NoUnusedVariablesRule,
      UniqueVariableNamesRule,
      VariablesAreInputTypesRule,
      VariablesInAllowedPositionRule,
    ],
  },
  {
    marks: fragments,
    rules: [
      FragmentsOnCompositeTypesRule,
      KnownFragmentNamesRule,
      NoFragmentCyclesRule,
      NoUnusedFragmentsRule,
      PossibleFragmentSpreadsRule,
      UniqueFragmentNamesRule,
    ],
  },
  { marks: ['$', ...fragments], rules: [KnownTypeNamesRule] },
  { marks: ['@'], rules: [KnownDirectivesRule, UniqueDirectivesPerLocationRule] },
  { marks: ['subscription'], rules: [SingleFieldSubscriptionsRule] },
];

/** The rules in the order of graphql-js, which is the order of the errors. */
export function rulesFor(query: string): readonly ValidationRule[] {
  const without = new Set<ValidationRule>();
  for (const { marks, rules } of markedRules) {
    if (!marks.some((mark) => query.includes(mark))) rules.forEach((rule) => without.add(rule));
  }
  return without.size === 0 ? specifiedRules : specifiedRules.filter((rule) => !without.has(rule));
}

/**
 * Returns groups of rules, which are checked one after another. The root of a subscription is checked first, because the rules
 * of graphql-js throw if it has a condition. For a long document, the other rules form groups that take about the same time. The
 * traversal with types takes a third of that time.
 */
export function ruleGroups(query: string, isLong: boolean): (readonly ValidationRule[])[] {
  const rules = rulesFor(query);
  const variableRules: ReadonlySet<ValidationRule> = new Set(markedRules[0]!.rules);
  const groups = Map.groupBy(rules, (rule) => {
    if (!isLong) return 'all';
    if (rule === OverlappingFieldsCanBeMergedRule) return 'merging';
    return variableRules.has(rule) ? 'variables' : 'rest';
  });
  const isSubscription = query.includes('subscription');
  return [...(isSubscription ? [[unconditionalSubscriptionRoot]] : []), ...groups.values()];
}

const conditions = ['include', 'skip'];

/**
 * A validation rule that graphql-js 16 lacks: a directive must not exclude the root field of a subscription. Without that
 * field, there is nothing to subscribe to, which graphql-js does not expect. https://github.com/graphql/graphql-spec/pull/860
 */
function unconditionalSubscriptionRoot(context: ValidationContext): ASTVisitor {
  return {
    FragmentDefinition: () => false,
    OperationDefinition({ operation, selectionSet }) {
      if (operation !== OperationTypeNode.SUBSCRIPTION) return false;
      for (const selection of expand([selectionSet], (name) => context.getFragment(name))) {
        const directive = selection.directives?.find(({ name }) => conditions.includes(name.value));
        if (!directive) continue;
        const text = `@${directive.name.value} may not be used at the root of a subscription.`;
        context.reportError(new GraphQLError(text, { nodes: [directive] }));
      }
      return false;
    },
  };
}

/**
 * Counts the comparisons of validation. Fields of the same name in the same object must be mergeable, so validation compares
 * all pairs of fields and of fragments (https://spec.graphql.org/draft/#sec-Field-Selection-Merging). Stops counting at `limit`.
 * `mostCompared` is the response name, or the fragment, that is compared most often.
 */
export function countComparisons({ definitions }: DocumentNode, limit: number) {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const work: (readonly SelectionSetNode[])[] = [];
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    if ('selectionSet' in definition) work.push([definition.selectionSet]);
  }

  const seen = new Set<string>();
  let count = 0;
  let mostCompared = { name: 'query', pairs: 0 };
  const add = (name: string, length: number) => {
    const pairs = (length * (length - 1)) / 2;
    count += pairs;
    if (pairs > mostCompared.pairs) mostCompared = { name, pairs };
  };

  for (let sets = work.pop(); sets && count <= limit; sets = work.pop()) {
    // Skips sets that were seen before, because fragments may contain themselves. The parser sets all locations.
    const key = sets.map(({ loc }) => loc!.start).join();
    if (seen.has(key)) continue;
    seen.add(key);
    const { size, fields, spreads } = collect(sets, fragments);
    count += size;
    add(spreads[0] ?? '', spreads.length);
    for (const [name, { length, below }] of fields) {
      add(name, length);
      if (below.length > 0) work.push(below);
    }
  }
  return { count, mostCompared: mostCompared.name };
}

/** Merges the selection sets of one object and expands fragments, without regard to types. */
function collect(sets: readonly SelectionSetNode[], fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const fields = new Map<string, { length: number; below: SelectionSetNode[] }>();
  const spreads: string[] = [];
  const selections = expand(sets, (name) => fragments.get(name));
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) spreads.push(selection.name.value);
    if (selection.kind !== Kind.FIELD) continue;
    const name = selection.alias?.value ?? selection.name.value;
    let group = fields.get(name);
    if (!group) fields.set(name, (group = { length: 0, below: [] }));
    group.length++;
    if (selection.selectionSet) group.below.push(selection.selectionSet);
  }
  return { size: selections.length, fields, spreads };
}

/** All selections of the sets and of the fragments in them. Each fragment is expanded once: it may contain itself. */
function expand(
  sets: readonly SelectionSetNode[],
  fragmentNamed: (name: string) => FragmentDefinitionNode | null | undefined,
): SelectionNode[] {
  const found: SelectionNode[] = [];
  const open = [...sets];
  const seen = new Set<string>();
  // The list grows during the iteration.
  for (const { selections } of open) {
    for (const selection of selections) {
      found.push(selection);
      if (selection.kind === Kind.INLINE_FRAGMENT) open.push(selection.selectionSet);
      if (selection.kind !== Kind.FRAGMENT_SPREAD || seen.has(selection.name.value)) continue;
      seen.add(selection.name.value);
      const fragment = fragmentNamed(selection.name.value);
      if (fragment) open.push(fragment.selectionSet);
    }
  }
  return found;
}
