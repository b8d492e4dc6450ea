// Prints the subfolders of the root with urql, creates one more, and prints them again after every change. Stop it with Ctrl-C.
// Needs Node.js 24 and the packages @espalier/client and @urql/core. In the repository:
//
//   ESPALIER_API_KEY=esp_… npx node --conditions=espalier-source examples/urql/folders.ts http://127.0.0.1:8080 - Garden
//   ESPALIER_PASSWORD=… npx node --conditions=espalier-source examples/urql/folders.ts http://127.0.0.1:8080 admin Garden

import { gql, type TypedDocumentNode } from '@urql/core';
import { createClient } from '@espalier/client';
import { connectUrql } from './connect.ts';

// A code generator can create these types from the schema, which `espalier schema` prints.
interface Folder {
  readonly __typename: 'Folder';
  readonly id: string;
  readonly name: string;
}
interface RootSubfolders {
  readonly cursor: string;
  readonly folder: { readonly id: string; readonly folders: { readonly items: readonly Folder[] } };
}
interface CreateFolderResult {
  readonly createFolder: { readonly folder: Folder };
}
interface FolderChangesResult {
  readonly folderChanges: { readonly kind: string; readonly folder: { readonly path: string } | null };
}

const rootSubfolders: TypedDocumentNode<RootSubfolders, Record<string, never>> = gql`
  query RootSubfolders {
    cursor
    folder {
      id
      folders(first: 100) {
        items {
          id
          name
        }
      }
    }
  }
`;
const createFolder: TypedDocumentNode<CreateFolderResult, { name: string }> = gql`
  mutation CreateFolder($name: String!) {
    createFolder(input: { name: $name }) {
      folder {
        id
        name
      }
    }
  }
`;
const folderChanges: TypedDocumentNode<FolderChangesResult, { after: string }> = gql`
  subscription FolderChanges($after: String!) {
    folderChanges(after: $after) {
      kind
      folder {
        id
        path
      }
    }
  }
`;

const [url = 'http://127.0.0.1:8080', username = 'admin', name = 'Garden'] = process.argv.slice(2);
// Never pass a password or a key as an argument: every user of the machine can read it.
const { ESPALIER_PASSWORD: password = '', ESPALIER_API_KEY: apiKey } = process.env;
const client = createClient({ url, apiKey: apiKey || undefined });
const urql = connectUrql(client);
const subscriptions: { unsubscribe(): void }[] = [];

const namesOf = ({ folder }: RootSubfolders) => folder.folders.items.map(({ name }) => name).join(', ');
const stop = async () => {
  for (const each of subscriptions) each.unsubscribe();
  if (!apiKey) await client.logout();
  client.close();
};
const fail = async (error: Error) => {
  console.error(`folders.ts: ${error.message}`);
  process.exitCode = 1;
  await stop();
};

try {
  if (!apiKey) await client.login({ username, password });
  process.once('SIGINT', () => void stop());

  const first = await urql.query(rootSubfolders, {}).toPromise();
  if (first.error || !first.data) throw first.error!;
  const querySubscription = urql.query(rootSubfolders, {}).subscribe(({ data, stale }) => {
    if (data && !stale) console.log(namesOf(data));
  });
  subscriptions.push(querySubscription);
  const created = await urql.mutation(createFolder, { name }).toPromise();
  // A refused mutation also has data: its field is null.
  if (created.error || !created.data) throw created.error!;
  console.log(`Created ${created.data.createFolder.folder.name}.`);

  // The cursor is from before the read, so no change is missed. After a lost connection, some changes may arrive twice.
  const changes = urql.subscription(folderChanges, { after: first.data.cursor });
  const changesSubscription = changes.subscribe(({ data, error }) => {
    if (error) return void fail(error);
    if (!data) return;
    console.log(`${data.folderChanges.kind} ${data.folderChanges.folder?.path ?? ''}`);
    // urql repeats a query only after its own mutations. This request updates every subscriber after changes by other users.
    void urql.query(rootSubfolders, {}, { requestPolicy: 'network-only' }).toPromise();
  });
  subscriptions.push(changesSubscription);
} catch (error) {
  await fail(error as Error);
}
