/** How the table of sub-folders is sorted, filtered and paged: as it is in the address, and as the graph is asked. Pure. */

import type { AccessLevel } from '../../graph/live.tsx';

export const orderFields = ['NAME', 'CREATED', 'UPDATED'] as const;
export type OrderField = (typeof orderFields)[number];

export interface ListChoice {
  readonly field: OrderField;
  readonly direction: 'ASC' | 'DESC';
  readonly text: string;
  /** From 1. */
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

export const pageSize = 50;

export function readChoice(query: URLSearchParams): ListChoice {
  const field = query.get('order')?.toUpperCase();
  const page = Number(query.get('page') ?? 1);
  return {
    field: orderFields.find((one) => one === field) ?? 'NAME',
    direction: query.get('direction') === 'desc' ? 'DESC' : 'ASC',
    text: query.get('text') ?? '',
    page: Number.isSafeInteger(page) && page > 0 && page < 1_000_000 ? page : 1,
  };
}

/** For `setQuery`: what is as usual is not in the address. */
export function writeChoice({ field, direction, text, page }: ListChoice): Record<string, string | null> {
  return {
    order: field === 'NAME' ? null : field.toLowerCase(),
    direction: direction === 'ASC' ? null : 'desc',
    text: text || null,
    page: page === 1 ? null : `${page}`,
  };
}

/** The same column again turns the order; times begin with the latest. */
export function sortedBy(choice: ListChoice, field: OrderField): ListChoice {
  const first = field === 'NAME' ? 'ASC' : 'DESC';
  const turned = choice.direction === 'ASC' ? 'DESC' : 'ASC';
  return { ...choice, field, page: 1, direction: choice.field === field ? turned : first };
}

export function variablesOf({ field, direction, text, page }: ListChoice) {
  return {
    first: pageSize,
    skip: (page - 1) * pageSize,
    filter: text ? { nameContains: text } : null,
    orderBy: { field, direction },
  };
}

/** "51–100 of 3,000". */
export function rangeText(page: number, shown: number, total: number): string {
  const number = (of: number) => of.toLocaleString('en');
  if (total === 0) return 'None';
  const from = (page - 1) * pageSize;
  if (shown === 0) return `None of ${number(total)} on this page`;
  return `${number(from + 1)}–${number(from + shown)} of ${number(total)}`;
}
