/** Reads the sign-ins of all users or of the viewer. It polls, because sign-ins occur without an event. */

import { usePages, type Page, type PagedQuery } from '../../graph/use-pages.ts';
import { toGraphFilter, type SignInFilter, type SignInMethod, type SignInResult } from './sign-in-filter.ts';

export interface SignInRow {
  readonly id: string;
  readonly at: string;
  readonly lastAt: string;
  /** More than one in a summary of failed attempts. */
  readonly count: number;
  readonly method: SignInMethod;
  readonly result: SignInResult;
  readonly username: string | null;
  readonly user: { readonly id: string; readonly username: string } | null;
  readonly address: string | null;
  readonly agent: string | null;
  readonly detail: string | null;
}

/** The fields of documents that read pages of `SignInRow`. */
const signInPageFields = /* GraphQL */ `
  fragment SignInPage on SignInConnection {
    items {
      id
      at
      lastAt
      count
      method
      result
      username
      user {
        id
        username
      }
      address
      agent
      detail
    }
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`;

const signInsDocument =
  /* GraphQL */ `
    query SignIns($filter: SignInFilter, $first: Int, $after: String) {
      signIns(filter: $filter, first: $first, after: $after) {
        ...SignInPage
      }
    }
  ` + signInPageFields;

const ownSignInsDocument =
  /* GraphQL */ `
    query OwnSignIns($first: Int, $after: String) {
      viewer {
        signIns(first: $first, after: $after) {
          ...SignInPage
        }
      }
    }
  ` + signInPageFields;

const pageSize = 50;
const pollMs = 15_000;

export function useSignIns(filter: SignInFilter): PagedQuery<SignInRow> {
  return usePages<{ signIns: Page<SignInRow> }, SignInRow>(
    ['people', 'signIns', filter],
    signInsDocument,
    { filter: toGraphFilter(filter), first: pageSize },
    ({ signIns }) => signIns,
    { pollMs },
  );
}

export function useOwnSignIns(): PagedQuery<SignInRow> {
  return usePages<{ viewer: { signIns: Page<SignInRow> } }, SignInRow>(
    ['people', 'ownSignIns'],
    ownSignInsDocument,
    { first: pageSize },
    ({ viewer }) => viewer.signIns,
    { pollMs },
  );
}
