/** The reads of the concurrent run. Each response has the journal number of its snapshot. */

import type { ModelUser, TreeModel } from '../model/tree-model.ts';
import type { Actor } from './actor.ts';
import { readNumber, type History } from './history.ts';
import {
  findSeen,
  folderFields,
  expectExport,
  expectFolder,
  expectNames,
  expectSearch,
  expectTrash,
  expectWithChildren,
  expectWithDescendants,
  childrenSelection,
  descendantsSelection,
} from './expected-views.ts';

export interface Reader {
  readonly actor: Actor;
  readonly user: ModelUser;
  readonly history: History;
  /** Selects a folder that is or was in the tree. */
  readonly anyId: () => string;
  readonly anyText: () => string;
}

type Read = (reader: Reader) => Promise<void>;

interface WithCursor {
  readonly cursor: string;
}

const children: Read = (reader) => {
  const id = reader.anyId();
  return readAt(reader, `query($id: ID!){cursor folder(id: $id){${childrenSelection}}}`, { id }, (model) => {
    const folder = findSeen(model, reader.user, id);
    return { folder: folder ? expectWithChildren(model, reader.user, folder) : null };
  });
};

const descendants: Read = (reader) => {
  const id = reader.anyId();
  return readAt(
    reader,
    `query($id: ID!){cursor folder(id: $id){${descendantsSelection}}}`,
    { id },
    (model) => {
      const folder = findSeen(model, reader.user, id);
      return { folder: folder ? expectWithDescendants(model, reader.user, folder) : null };
    },
  );
};

const search: Read = (reader) => {
  const text = reader.anyText();
  const query = `query($text: String!){cursor search(text: $text, first: 500){items{${folderFields}}}}`;
  return readAt(reader, query, { text }, (model) => ({
    search: { items: expectSearch(model, reader.user, text) },
  }));
};

const exportAll: Read = (reader) =>
  readAt(reader, '{cursor exportFolders{path description}}', {}, (model) => ({
    exportFolders: expectExport(model, reader.user, model.root),
  }));

const trash: Read = async ({ actor, user, history }) => {
  const data = await actor.query<WithCursor & { trash: { items: { name: string }[] } }>(
    '{cursor trash(first: 500){items{name}}}',
  );
  const { cursor, trash: page } = data!;
  const items = page.items.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const number = readNumber(cursor);
  const expected = (model: TreeModel) => [expectTrash(model, user)];
  history.observe({ low: number, high: number, title: `trash of ${user.username}`, actual: items, expected });
};

/** Reads the changes after a recent cursor. All their folders come from the snapshot of the response. */
const changes: Read = async (reader) => {
  const { actor, user, history } = reader;
  const before = await actor.query<WithCursor>('{cursor}');
  await children(reader);
  const query = `query($after: String){cursor changes(after: $after, first: 100){items{folder{${childrenSelection}}}}}`;
  const data = await actor.query<WithCursor & { changes: { items: { folder: { id: string } | null }[] } }>(
    query,
    {
      after: before!.cursor,
    },
  );
  const number = readNumber(data!.cursor);
  for (const { folder } of data!.changes.items) {
    if (!folder) continue;
    const expected = (model: TreeModel) => {
      const found = findSeen(model, user, folder.id);
      return [found && expectWithChildren(model, user, found)];
    };
    history.observe({
      low: number,
      high: number,
      title: `changes of ${user.username}`,
      actual: folder,
      expected,
    });
  }
};

/** The query of the contract, which returns no cursor. */
const names: Read = async ({ actor, user, history }) => {
  const low = await actor.head();
  const actual = await actor.query('{folder{name folders{edges{node{name}}}}}');
  const expected = (model: TreeModel) => [expectNames(model, user)];
  history.observe({ low, high: await actor.head(), title: `names for ${user.username}`, actual, expected });
};

const byPath: Read = (reader) => {
  const { user } = reader;
  return readAt(reader, `{cursor folder(path: "/"){${folderFields}}}`, {}, (model) => ({
    folder: expectFolder(model, user, model.root),
  }));
};

export const reads: readonly Read[] = [
  children,
  descendants,
  search,
  exportAll,
  trash,
  changes,
  names,
  byPath,
];
export const longReads: readonly Read[] = [descendants, search, exportAll, trash];

async function readAt(
  { actor, user, history }: Reader,
  query: string,
  variables: object,
  expected: (model: TreeModel) => unknown,
): Promise<void> {
  const data = await actor.query<WithCursor>(query, variables);
  const { cursor, ...actual } = data!;
  const number = readNumber(cursor);
  const title = `${query} ${JSON.stringify(variables)} of ${user.username}`;
  history.observe({ low: number, high: number, title, actual, expected: (model) => [expected(model)] });
}
