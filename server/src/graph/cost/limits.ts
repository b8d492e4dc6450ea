/**
 * Limits of GraphQL operations, mainly of their cost; `docs/reference/limits.md` explains how the cost is counted. Their defaults are in
 * `config/settings-table.ts`. These files check the limits:
 *
 * - text and tokens: `graph/documents.ts`
 * - fields, depth and the size of introspection: `cost.ts`
 * - folders, values, text, page size, scans and exports of a response: `budget.ts`
 * - page size of all other lists, a fixed limit: `graph/schema/connections/relay-connection.ts`
 * - imported folders: `folders/import/import-plan.ts`
 * - long reads of one user at a time, a fixed limit: `graph/viewer-reads.ts`
 * - computing time, shared between users: `concurrency/fair-scheduler.ts`
 * - backlog: the subscriptions in `folders/change-feed` and `journal`
 */

import type { Settings } from '../../config/settings-table.ts';
import { Refusal } from '../../refusal.ts';

/**
 * Line by line: limits of the text, of the parsed query, of the response while it is computed, and of arguments and the
 * backlog.
 */
export type Limits = Pick<
  Settings,
  | ('maxQueryCharacters' | 'maxQueryTokens')
  | ('maxFields' | 'maxDepth')
  | ('maxFolders' | 'maxValues' | 'maxTextBytes' | 'maxScanned' | 'maxExportFolders')
  | ('maxPageSize' | 'maxImportFolders' | 'maxBacklog')
>;

export interface Excess {
  /** The path of a field, the name of an operation, or `query` if the text was not parsed completely. */
  readonly field: string;
  /** The counted cost. If counting stopped early, the first number over the limit. */
  readonly cost: number;
  readonly limit: number;
}

/** The details of the refusal contain the field, its cost and the limit. */
export function tooExpensive(message: string, { field, cost, limit }: Excess): Refusal {
  return new Refusal('TOO_EXPENSIVE', message, { facts: { field, cost, limit } });
}

const maxNames = 8;
const maxCharacters = 200;

/** Joins names into a path. The client chooses the names, so their number and length are limited. */
export function toFieldPath(names: readonly string[]): string {
  const path = names.slice(0, maxNames).join('.');
  const isCut = names.length > maxNames || path.length > maxCharacters;
  return isCut ? `${path.slice(0, maxCharacters)}…` : path;
}
