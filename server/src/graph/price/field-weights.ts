/** Fields that cost more than a field. Everything else costs one. */

/** By name, whatever type has them: what they read or compute does not depend on how often they are nested. */
const weights: Readonly<Record<string, number>> = {
  // These read many rows for one value of the answer.
  search: 50,
  changes: 50,
  journal: 50,
  folderChanges: 20,
  exportFolders: 100,
  descendants: 5,
  position: 5,
  grants: 5,
  refreshes: 10,
  server: 5,
  explainAccess: 20,
  moveFolder: 20,
  // These hash a password: 34 ms of CPU each.
  createUser: 50,
  resetPassword: 50,
  changePassword: 50,
};

/** Each mutation is a transaction, and writers stand in one line. */
const leastOfMutation = 5;

export function weightOf(fieldName: string, isMutation: boolean): number {
  const weight = Object.hasOwn(weights, fieldName) ? weights[fieldName]! : 1;
  return isMutation ? Math.max(weight, leastOfMutation) : weight;
}
