// Shows the folders at the top, makes one more, and keeps showing what they are now as others change them. Stop it with
// Ctrl-C. Needs Node 24 and the packages @espalier/client, @apollo/client, graphql, graphql-ws and rxjs; in the repository:
//
//   ESPALIER_PASSWORD=… npx node --conditions=espalier-source examples/apollo/folders.ts http://127.0.0.1:8080 admin Garden

import { gql, type TypedDocumentNode } from '@apollo/client';
import { createClient } from '@espalier/client';
import { connectApollo } from './connect.ts';

// By hand here; a code generator writes the same from the schema, which `espalier schema` prints.
interface Folder {
  readonly __typename: 'Folder';
  readonly id: string;
  readonly name: string;
}
interface Top {
  readonly cursor: string;
  readonly folder: { readonly id: string; readonly folders: { readonly items: readonly Folder[] } };
}
interface Created {
  readonly createFolder: { readonly folder: Folder };
}
interface Changed {
  readonly folderChanges: { readonly kind: string; readonly folder: { readonly path: string } | null };
}

const topFolders: TypedDocumentNode<Top, Record<string, never>> = gql`
  query TopFolders {
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
const createFolder: TypedDocumentNode<Created, { name: string }> = gql`
  mutation CreateFolder($name: String!) {
    createFolder(input: { name: $name }) {
      folder {
        id
        name
      }
    }
  }
`;
const folderChanges: TypedDocumentNode<Changed, { after: string }> = gql`
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
const client = createClient({ url });
const apollo = connectApollo(client);
let following: { unsubscribe(): void } | undefined;

const namesOf = ({ folder }: Top) => folder.folders.items.map(({ name }) => name).join(', ');
const stop = async () => {
  following?.unsubscribe();
  apollo.stop();
  await client.logout();
  client.close();
};
const fail = async (error: Error) => {
  // The end of a session is told to whatever is under way.
  if (process.exitCode) return;
  console.error(`folders.ts: ${error.message}`);
  process.exitCode = 1;
  await stop();
};

try {
  // Not an argument: those, everybody on the machine can read.
  await client.login({ username, password: process.env['ESPALIER_PASSWORD'] ?? '' });
  process.once('SIGINT', () => void stop());

  const { data } = await apollo.query({ query: topFolders });
  const watched = apollo.watchQuery({ query: topFolders, notifyOnNetworkStatusChange: false });
  watched.subscribe((now) => {
    if (now.dataState === 'complete') console.log(namesOf(now.data));
  });
  const made = await apollo.mutate({ mutation: createFolder, variables: { name } });
  console.log(`Made ${made.data!.createFolder.folder.name}.`);

  // From before what was read: nothing is missed. After a lost connection some changes are told twice, which does no harm.
  const changes = apollo.subscribe({ query: folderChanges, variables: { after: data!.cursor } });
  following = changes.subscribe(({ data, error }) => {
    if (error) return void fail(error);
    if (!data) return;
    console.log(`${data.folderChanges.kind} ${data.folderChanges.folder?.path ?? ''}`);
    // The cache knows folders by their ids and so a new name, but not which have come and gone.
    apollo.refetchQueries({ include: [topFolders] }).catch(fail);
  });
} catch (error) {
  await fail(error as Error);
}
