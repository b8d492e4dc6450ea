/**
 * Relay, compiled and run against a real server. Its store keys every record by `id` alone, so an `id` that two types
 * share corrupts the record of one of them.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { createClient } from 'graphql-ws';
import {
  commitMutation,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  getRequest,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
  type ConcreteRequest,
  type GraphQLResponse,
  type GraphQLTaggedNode,
  type Variables,
} from 'relay-runtime';
import { databaseKinds } from '../support/databases.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

const root = join(import.meta.dirname, '../..');

/** They select no ids, because the compiler adds `id` to every type that has one. */
const documents = {
  FoldersNodeQuery: 'query FoldersNodeQuery($id: ID!) { node(id: $id) { ... on Folder { name version } } }',
  FoldersTrashQuery: 'query FoldersTrashQuery { trash { items { name deletedAt } } }',
  FoldersChangesQuery:
    'query FoldersChangesQuery($after: String) { changes(after: $after) { items { kind } } }',
  FoldersChangesSubscription:
    'subscription FoldersChangesSubscription($after: String) { folderChanges(after: $after) { kind folder { name version } } }',
  FoldersDeleteMutation:
    'mutation FoldersDeleteMutation($input: DeleteFolderInput!) { deleteFolder(input: $input) { folderCount } }',
};

type Documents = Readonly<Record<keyof typeof documents, GraphQLTaggedNode>>;

const folder = mkdtempSync(join(tmpdir(), 'espalier-relay-'));
let artifacts: Documents;
before(async () => (artifacts = await compile()));
after(() => rmSync(folder, { recursive: true }));

for (const kind of databaseKinds) {
  describe(`Relay on ${kind.name}`, { timeout: 60_000 }, () => {
    let tree: TreeTestbed;
    before(async () => (tree = await TreeTestbed.start(kind)));
    after(() => tree.stop());

    test('still reads `node(id)` after an event of `folderChanges`', async (context) => {
      const environment = connect(tree, context);
      const { cursor } = await tree.query<{ cursor: string }>('{cursor}');
      const id = await tree.create('Orchard');
      const received = subscribe(environment, { after: cursor });
      assert.deepEqual(await received.next(), {
        folderChanges: { kind: 'CREATE', folder: { name: 'Orchard', version: 1 } },
      });
      await read(environment, artifacts.FoldersNodeQuery, { id });
      assert.deepEqual(readCached(environment, id), { node: { name: 'Orchard', version: 1 } });

      await tree.mutate('updateFolder', { id, name: 'Meadow' });
      assert.deepEqual(await received.next(), {
        folderChanges: { kind: 'UPDATE', folder: { name: 'Meadow', version: 2 } },
      });
      assert.deepEqual(readCached(environment, id), { node: { name: 'Meadow', version: 2 } });

      await read(environment, artifacts.FoldersChangesQuery, { after: cursor });
      assert.deepEqual(readCached(environment, id), { node: { name: 'Meadow', version: 2 } });
    });

    test('still reads `node(id)` after a deletion, even with the trash in its store', async (context) => {
      const environment = connect(tree, context);
      const id = await tree.create('Shed');
      await read(environment, artifacts.FoldersNodeQuery, { id });
      await mutate(environment, artifacts.FoldersDeleteMutation, { input: { id } });
      const expected = { node: { name: 'Shed', version: 1 } };
      assert.deepEqual(readCached(environment, id), expected);
      await read(environment, artifacts.FoldersTrashQuery, {});
      assert.deepEqual(readCached(environment, id), expected);
      await tree.mutate('restoreFolder', { id, name: 'Barn' });
      await read(environment, artifacts.FoldersNodeQuery, { id });
      assert.deepEqual(readCached(environment, id), { node: { name: 'Barn', version: 3 } });
    });
  });

  function subscribe(environment: Environment, variables: { after: string }) {
    const events: unknown[] = [];
    let wake: () => void = () => undefined;
    let failure: Error | undefined;
    requestSubscription(environment, {
      subscription: artifacts.FoldersChangesSubscription,
      variables,
      onNext: (event) => {
        events.push(event);
        wake();
      },
      onError: (error) => {
        failure = error;
        wake();
      },
    });
    return {
      async next(): Promise<unknown> {
        while (events.length === 0) {
          if (failure) throw failure;
          await new Promise<void>((resolve) => (wake = resolve));
        }
        return events.shift();
      },
    };
  }

  /** Returns the folder from the store, without a request. */
  function readCached(environment: Environment, id: string): unknown {
    const operation = createOperationDescriptor(getRequest(artifacts.FoldersNodeQuery), { id });
    return environment.lookup(operation.fragment).data;
  }
}

function connect(tree: TreeTestbed, context: TestContext): Environment {
  const authorization = `Bearer ${tree.authToken}`;
  const socket = createClient({
    url: `${tree.server.url.replace(/^http/, 'ws')}/graphql`,
    connectionParams: { authorization },
  });
  context.after(() => socket.dispose());
  const network = Network.create(
    async ({ text }, variables) =>
      (await tree.server.query(text!, tree.authToken, variables)).json<GraphQLResponse>(),
    ({ text }, variables) =>
      Observable.create<GraphQLResponse>((sink) =>
        socket.subscribe(
          { query: text!, variables },
          {
            next: (result) => sink.next(result as GraphQLResponse),
            error: (error) => sink.error(error as Error),
            complete: () => sink.complete(),
          },
        ),
      ),
  );
  return new Environment({ network, store: new Store(new RecordSource()) });
}

async function read(environment: Environment, query: GraphQLTaggedNode, variables: Variables): Promise<void> {
  await fetchQuery(environment, query, variables).toPromise();
  // A mounted component does the same: unretained records may be collected.
  environment.retain(createOperationDescriptor(getRequest(query), variables));
}

function mutate(
  environment: Environment,
  mutation: GraphQLTaggedNode,
  variables: Variables,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    commitMutation(environment, { mutation, variables, onCompleted: resolve, onError: reject });
  });
}

/** Runs the published compiler against the schema of the contract. */
async function compile(): Promise<Documents> {
  const [source, generated] = [join(folder, 'src'), join(folder, 'generated')];
  for (const each of [source, generated]) mkdirSync(each);
  const texts = Object.values(documents).map((text) => `graphql\`${text}\`;`);
  writeFileSync(
    join(source, 'Folders.js'),
    `import { graphql } from 'relay-runtime';\n${texts.join('\n')}\n`,
  );
  copyFileSync(join(root, 'contract/schema.graphql'), join(folder, 'schema.graphql'));
  const config = {
    src: './src',
    schema: './schema.graphql',
    artifactDirectory: './generated',
    language: 'javascript',
  };
  writeFileSync(join(folder, 'relay.config.json'), JSON.stringify(config));
  const compiler = createRequire(import.meta.url).resolve('relay-compiler/cli.js');
  await promisify(execFile)(process.execPath, [compiler, '--noWatchman'], { cwd: folder });
  const load = createRequire(join(generated, 'index.js'));
  const names = Object.keys(documents) as (keyof typeof documents)[];
  return Object.fromEntries(
    names.map((name) => [name, load(`./${name}.graphql.js`) as ConcreteRequest]),
  ) as Documents;
}
