/** Lint rules of this repository, in the form of https://eslint.org/docs/latest/extend/custom-rules */

/** Forbids `new Date()`, as the time comes from the clock that is passed in. */
const noCurrentDate = {
  create: (context) => ({
    NewExpression(node) {
      if (node.callee.name !== 'Date' || node.arguments.length > 0) return;
      context.report({ node, message: 'Take the time from the clock that is passed in.' });
    },
  }),
};

export default { meta: { name: 'espalier' }, rules: { 'no-current-date': noCurrentDate } };
