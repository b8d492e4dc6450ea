// Prints the subfolders of the root with Apollo Client, creates one more, and prints them again after every change. Stop it with Ctrl-C.
// Needs Node.js 24 and the packages @espalier/client, @apollo/client, graphql, graphql-ws and rxjs. In the repository:
//
//   ESPALIER_API_KEY=esp_… npx node --conditions=espalier-source examples/apollo/folders.ts http://127.0.0.1:8080 - Garden
//   ESPALIER_PASSWORD=… npx node --conditions=espalier-source examples/apollo/folders.ts http://127.0.0.1:8080 admin Garden

import { gql, type TypedDocumentNode } from '@apollo/client';
import { createClient } from '@espalier/client';
import { connectApollo } from './connect.ts';

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
const apollo = connectApollo(client);
let changesSubscription: { unsubscribe(): void } | undefined;

const namesOf = ({ folder }: RootSubfolders) => folder.folders.items.map(({ name }) => name).join(', ');
const stop = async () => {
  changesSubscription?.unsubscribe();
  apollo.stop();
  if (!apiKey) await client.logout();
  client.close();
};
const fail = async (error: Error) => {
  // The end of the session also fails every running operation.
  if (process.exitCode) return;
  console.error(`folders.ts: ${error.message}`);
  process.exitCode = 1;
  await stop();
};

try {
  if (!apiKey) await client.login({ username, password });
  process.once('SIGINT', () => void stop());

  const { data } = await apollo.query({ query: rootSubfolders });
  const watchedQuery = apollo.watchQuery({ query: rootSubfolders, notifyOnNetworkStatusChange: false });
  watchedQuery.subscribe((now) => {
    if (now.dataState === 'complete') console.log(namesOf(now.data));
  });
  const created = await apollo.mutate({ mutation: createFolder, variables: { name } });
  console.log(`Created ${created.data!.createFolder.folder.name}.`);

  // The cursor is from before the read, so no change is missed. After a lost connection, some changes may arrive twice.
  const changes = apollo.subscribe({ query: folderChanges, variables: { after: data!.cursor } });
  changesSubscription = changes.subscribe(({ data, error }) => {
    if (error) return void fail(error);
    if (!data) return;
    console.log(`${data.folderChanges.kind} ${data.folderChanges.folder?.path ?? ''}`);
    // The cache finds a folder by its id and updates its name. It does not add new folders to a list, or remove deleted ones.
    apollo.refetchQueries({ include: [rootSubfolders] }).catch(fail);
  });
} catch (error) {
  await fail(error as Error);
}
