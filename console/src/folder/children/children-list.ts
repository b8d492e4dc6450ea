/** The sorting, filter and page of the table of subfolders, as stored in the address and as sent to the server. */

import type { AccessLevel } from '../../graph/live.tsx';
import { rowsPerPage } from '../../graph/pages.ts';

export const orderFields = ['NAME', 'CREATED', 'UPDATED'] as const;
export type OrderField = (typeof orderFields)[number];

export interface ListOptions {
  readonly field: OrderField;
  readonly direction: 'ASC' | 'DESC';
  readonly text: string;
  /** Starts at 1. */
  readonly page: number;
}

export interface ChildFolder {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly icon: string | null;
  readonly accessLevel: AccessLevel;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly folders: { readonly totalCount: number };
}

export function readOptions(query: URLSearchParams): ListOptions {
  const field = query.get('order')?.toUpperCase();
  const page = Number(query.get('page') ?? 1);
  return {
    field: orderFields.find((each) => each === field) ?? 'NAME',
    direction: query.get('direction') === 'desc' ? 'DESC' : 'ASC',
    text: query.get('text') ?? '',
    page: Number.isSafeInteger(page) && page > 0 && page < 1_000_000 ? page : 1,
  };
}

/** For `setQuery`. Defaults are left out of the address. */
export function writeOptions({ field, direction, text, page }: ListOptions): Record<string, string | null> {
  return {
    order: field === 'NAME' ? null : field.toLowerCase(),
    direction: direction === 'ASC' ? null : 'desc',
    text: text || null,
    page: page === 1 ? null : `${page}`,
  };
}

/** Sorting by the same column again reverses the order. Times start with the latest. */
export function sortBy(options: ListOptions, field: OrderField): ListOptions {
  const initial = field === 'NAME' ? 'ASC' : 'DESC';
  const reversed = options.direction === 'ASC' ? 'DESC' : 'ASC';
  return { ...options, field, page: 1, direction: options.field === field ? reversed : initial };
}

export function toVariables({ field, direction, text, page }: ListOptions) {
  return {
    first: rowsPerPage,
    skip: (page - 1) * rowsPerPage,
    filter: text ? { nameContains: text } : null,
    orderBy: { field, direction },
  };
}
