/**
 * The rules of validation that a query can break: what is not in its text needs no rule. Each costs something for every
 * part of a query, whether it applies or not, and a query of a new text costs mostly that.
 */

import {
  FragmentsOnCompositeTypesRule,
  KnownDirectivesRule,
  KnownFragmentNamesRule,
  KnownTypeNamesRule,
  NoFragmentCyclesRule,
  NoUndefinedVariablesRule,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  OverlappingFieldsCanBeMergedRule,
  PossibleFragmentSpreadsRule,
  SingleFieldSubscriptionsRule,
  specifiedRules,
  UniqueDirectivesPerLocationRule,
  UniqueFragmentNamesRule,
  UniqueVariableNamesRule,
  VariablesAreInputTypesRule,
  VariablesInAllowedPositionRule,
  type ValidationRule,
} from 'graphql';

interface Marked {
  /** Wherever one of the rules applies, the text has one of these; it may have them elsewhere, too. */
  readonly marks: readonly string[];
  readonly rules: readonly ValidationRule[];
}

const fragments = ['...', 'fragment'];

const marked: readonly Marked[] = [
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

/** In the order of graphql-js, which is the order of the errors. */
export function rulesFor(query: string): readonly ValidationRule[] {
  const without = new Set<ValidationRule>();
  for (const { marks, rules } of marked) {
    if (!marks.some((mark) => query.includes(mark))) rules.forEach((rule) => without.add(rule));
  }
  return without.size === 0 ? specifiedRules : specifiedRules.filter((rule) => !without.has(rule));
}

/** The rules in groups that each take about as long: the traversal with types is a third of it. */
export function inGroups(rules: readonly ValidationRule[]): (readonly ValidationRule[])[] {
  const ofVariables: ReadonlySet<ValidationRule> = new Set(marked[0]!.rules);
  const groups = Map.groupBy(rules, (rule) =>
    rule === OverlappingFieldsCanBeMergedRule ? 'merging' : ofVariables.has(rule) ? 'variables' : 'rest',
  );
  return [...groups.values()];
}
