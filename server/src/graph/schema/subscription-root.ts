/**
 * The validation rule that graphql 16 lacks: the root of a subscription may not be left out by a directive. Without it,
 * there would be nothing to subscribe to, which graphql does not expect. https://github.com/graphql/graphql-spec/pull/860
 */

import {
  GraphQLError,
  Kind,
  OperationTypeNode,
  type ASTVisitor,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';

const conditions = ['include', 'skip'];

export function unconditionalSubscriptionRoot(context: ValidationContext): ASTVisitor {
  return {
    FragmentDefinition: () => false,
    OperationDefinition({ operation, selectionSet }) {
      if (operation !== OperationTypeNode.SUBSCRIPTION) return false;
      for (const selection of rootSelections(context, selectionSet)) {
        const directive = selection.directives?.find(({ name }) => conditions.includes(name.value));
        if (!directive) continue;
        const text = `@${directive.name.value} may not be used at the root of a subscription.`;
        context.reportError(new GraphQLError(text, { nodes: [directive] }));
      }
      return false;
    },
  };
}

/** With those in fragments, each fragment once. */
function rootSelections(context: ValidationContext, root: SelectionSetNode): SelectionNode[] {
  const found: SelectionNode[] = [];
  const seen = new Set<string>();
  const waiting = [...root.selections];
  for (let selection = waiting.shift(); selection; selection = waiting.shift()) {
    found.push(selection);
    if (selection.kind === Kind.INLINE_FRAGMENT) waiting.push(...selection.selectionSet.selections);
    if (selection.kind !== Kind.FRAGMENT_SPREAD || seen.has(selection.name.value)) continue;
    seen.add(selection.name.value);
    waiting.push(...(context.getFragment(selection.name.value)?.selectionSet.selections ?? []));
  }
  return found;
}
