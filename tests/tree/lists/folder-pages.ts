/** Reads lists of folders page by page. */

import assert from 'node:assert/strict';
import type { Variables } from '../../support/graph-testbed.ts';
import type { TreeTestbed } from '../tree-testbed.ts';

export interface FolderPage {
  edges: { cursor: string; depth: number; node: { id: string; name: string } }[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
  totalCount: number;
}

const page =
  '{edges{cursor depth node{id name}} pageInfo{hasNextPage hasPreviousPage startCursor endCursor} totalCount}';
export const childrenQuery = `query($id: ID, $first: Int, $after: String, $last: Int, $before: String, $filter: FolderFilter, $orderBy: FolderOrder, $skip: Int){
  folder(id: $id){list: folders(first: $first, after: $after, last: $last, before: $before, filter: $filter, orderBy: $orderBy, skip: $skip)${page}}}`;
export const descendantsQuery = `query($id: ID, $depth: Int, $first: Int, $after: String){
  folder(id: $id){list: descendants(depth: $depth, first: $first, after: $after)${page}}}`;

export const namesOf = ({ edges }: FolderPage) => edges.map(({ node }) => node.name);

/** Creates functions that read the lists of one query. */
export function createPager(tree: () => TreeTestbed, query: string) {
  async function readList(variables: Variables, authToken?: string): Promise<FolderPage> {
    return (await tree().query<{ folder: { list: FolderPage } }>(query, variables, authToken)).folder.list;
  }

  async function assertRefused(variables: Variables): Promise<void> {
    const { extensions } = await tree().readError(query, variables);
    assert.equal(extensions.code, 'BAD_INPUT', JSON.stringify(variables));
  }

  /** Reads the whole list page by page, and checks the page info of each page. */
  async function pageForward(variables: Variables, first: number, authToken?: string) {
    const edges: FolderPage['edges'] = [];
    for (let after: string | null = null, more = true; more;) {
      const part = await readList({ ...variables, first, after }, authToken);
      assert.equal(part.pageInfo.hasPreviousPage, edges.length > 0);
      assert.equal(part.pageInfo.startCursor, part.edges[0]?.cursor ?? null);
      edges.push(...part.edges);
      ({ hasNextPage: more, endCursor: after } = part.pageInfo);
      assert.ok(!more || part.edges.length === first);
    }
    return edges;
  }

  async function pageBackward(variables: Variables, last: number) {
    const edges: FolderPage['edges'] = [];
    for (let before: string | null = null, more = true; more;) {
      const part = await readList({ ...variables, last, before });
      assert.equal(part.pageInfo.hasNextPage, edges.length > 0);
      assert.equal(part.pageInfo.endCursor, part.edges.at(-1)?.cursor ?? null);
      edges.unshift(...part.edges);
      ({ hasPreviousPage: more, startCursor: before } = part.pageInfo);
    }
    return edges;
  }

  return { readList, assertRefused, pageForward, pageBackward };
}
