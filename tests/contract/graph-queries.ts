/** The GraphQL queries of section 4.3 of the contract. */

export const rootNameQuery = '{folder {name}}';

/** Reads the names of several levels, from the root or from the folder that the argument names. */
export function nestedNamesQuery(levels: number, folderArguments = '', listArguments = ''): string {
  const inside = (left: number): string =>
    left > 1 ? `name folders${listArguments}{edges{node{${inside(left - 1)}}}}` : 'name';
  return `{folder${folderArguments}{${inside(levels)}}}`;
}
