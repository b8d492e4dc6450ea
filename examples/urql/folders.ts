// Shows the folders at the top, makes one more, and keeps showing what they are now as others change them. Stop it with
// Ctrl-C. Needs Node 24 and the packages @espalier/client and @urql/core; in the repository:
//
//   ESPALIER_PASSWORD=… npx node --conditions=espalier-source examples/urql/folders.ts http://127.0.0.1:8080 admin Garden

import { gql, type TypedDocumentNode } from '@urql/core';
import { createClient } from '@espalier/client';
import { connectUrql } from './connect.ts';

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
const urql = connectUrql(client);
const running: { unsubscribe(): void }[] = [];

const namesOf = ({ folder }: Top) => folder.folders.items.map(({ name }) => name).join(', ');
const stop = async () => {
  for (const each of running) each.unsubscribe();
  await client.logout();
  client.close();
};
const fail = async (error: Error) => {
  console.error(`folders.ts: ${error.message}`);
  process.exitCode = 1;
  await stop();
};

try {
  // Not an argument: those, everybody on the machine can read.
  await client.login({ username, password: process.env['ESPALIER_PASSWORD'] ?? '' });
  process.once('SIGINT', () => void stop());

  const first = await urql.query(topFolders, {}).toPromise();
  if (first.error || !first.data) throw first.error!;
  const watched = urql.query(topFolders, {}).subscribe(({ data, stale }) => {
    if (data && !stale) console.log(namesOf(data));
  });
  running.push(watched);
  const made = await urql.mutation(createFolder, { name }).toPromise();
  // A refusal has data, too: that of a field that is null.
  if (made.error || !made.data) throw made.error!;
  console.log(`Made ${made.data.createFolder.folder.name}.`);

  // From before what was read: nothing is missed. After a lost connection some changes are told twice, which does no harm.
  const changes = urql.subscription(folderChanges, { after: first.data.cursor });
  const following = changes.subscribe(({ data, error }) => {
    if (error) return void fail(error);
    if (!data) return;
    console.log(`${data.folderChanges.kind} ${data.folderChanges.folder?.path ?? ''}`);
    // urql notices mutations of its own; what others do, it is told here. Whoever shows the query gets the answer.
    void urql.query(topFolders, {}, { requestPolicy: 'network-only' }).toPromise();
  });
  running.push(following);
} catch (error) {
  await fail(error as Error);
}
