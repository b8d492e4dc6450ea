/** The weights of fields that run a statement or take arguments. Every other field has the weight 1. */

/** By field name, for all types. */
export const weights: Readonly<Record<string, number>> = {
  // These read a row, or rows that are read once for a whole level of the tree.
  folder: 1,
  folders: 1,
  node: 1,
  user: 1,
  group: 1,
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
  access: 5,
  accessChanges: 5,
  refreshes: 10,
  server: 5,
  explainAccess: 20,
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
