/** How many folders one answer may hold. A short query can ask for a long answer: aliases and fragments multiply. */

import type { GraphQLResolveInfo } from 'graphql';
import { Refusal } from '../refusal.ts';

const mostFolders = 20_000;

export class FolderBudget {
  #left = mostFolders;

  /** Passes the folders on, unless they are too many together with what the answer holds already. */
  spend<T>(folders: readonly T[], { path }: Pick<GraphQLResolveInfo, 'path'>): readonly T[] {
    this.#left -= folders.length;
    if (this.#left >= 0) return folders;
    throw new Refusal(
      'TOO_EXPENSIVE',
      `With ${fieldNames(path)} the answer would hold more than ${mostFolders} folders. Ask for fewer at a time: page with \`first\` and \`after\`.`,
    );
  }
}

function fieldNames(path: GraphQLResolveInfo['path']): string {
  const names: string[] = [];
  for (let at: GraphQLResolveInfo['path'] | undefined = path; at; at = at.prev) {
    if (typeof at.key === 'string') names.unshift(at.key);
  }
  return names.join('.');
}
