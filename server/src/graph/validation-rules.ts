/**
 * Selects the validation rules that a query can break. Each rule costs time for every node of a query, and validation is
 * most of the cost of a new query. A rule about fragments, for example, is not needed if the text has none.
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

interface MarkedRules {
  /** If one of the rules applies, the text contains one of these. The reverse need not be true. */
  readonly marks: readonly string[];
  readonly rules: readonly ValidationRule[];
}

const fragments = ['...', 'fragment'];

const marked: readonly MarkedRules[] = [
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
  for (const { marks, rules } of marked) {
    if (!marks.some((mark) => query.includes(mark))) rules.forEach((rule) => without.add(rule));
  }
  return without.size === 0 ? specifiedRules : specifiedRules.filter((rule) => !without.has(rule));
}

/** Divides the rules into groups that take about the same time. The typed traversal takes a third of the time. */
export function inGroups(rules: readonly ValidationRule[]): (readonly ValidationRule[])[] {
  const variableRules: ReadonlySet<ValidationRule> = new Set(marked[0]!.rules);
  const groups = Map.groupBy(rules, (rule) =>
    rule === OverlappingFieldsCanBeMergedRule ? 'merging' : variableRules.has(rule) ? 'variables' : 'rest',
  );
  return [...groups.values()];
}
