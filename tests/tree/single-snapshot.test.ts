/**
 * The rights and the data of a response come from one snapshot. The tests interrupt each request before its
 * first read, its second read, and so on. In each interruption, the viewer loses access before a secret is
 * written. No response may contain the secret.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AccessCache } from '../../server/src/access/access-cache.ts';
import type { Database, Reader, Snapshot } from '../../server/src/database/database.ts';
import { createGraph, type GraphOptions, type GraphStream } from '../../server/src/graph/graph.ts';
import type { GraphRequest } from '@espalier/contract';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { mutation } from '../support/graph-testbed.ts';
import { MirrorTestbed, createViewer } from '../live/mirror/mirror-testbed.ts';
import { selectLength } from '../support/run-length.ts';

/** The folders of one attempt. The viewer may write to `top`. */
interface Scene {
  readonly top: string;
  readonly child: string;
  readonly leaf: string;
  readonly path: string;
  /** The journal cursor before `child` got its title. */
  readonly cursor: string;
}

const folderFields =
  'id name description version position folders{totalCount items{name description parent{name}}}';

const requests: Readonly<Record<string, (scene: Scene) => GraphRequest>> = {
  'a folder by its id': ({ top }) => ({
    query: `query($id: ID!){node(id: $id){id ...on Folder{${folderFields}}}}`,
    variables: { id: top },
  }),
  'a folder by its path': ({ path }) => ({
    query: `query($path: String!){folder(path: $path){${folderFields}}}`,
    variables: { path },
  }),
  'filtered and ordered children': ({ top }) => ({
    query: `query($id: ID!){folder(id: $id){
      a: folders(filter: {nameContains: "e"}){totalCount items{name description}}
      b: folders(first: 2, orderBy: {field: UPDATED, direction: DESC}){edges{cursor node{${folderFields}}}}}}`,
    variables: { id: top },
  }),
  ancestors: ({ leaf }) => ({
    query: 'query($id: ID!){folder(id: $id){path ancestors{name description} parent{folders{items{name}}}}}',
    variables: { id: leaf },
  }),
  descendants: ({ top }) => ({
    query:
      'query($id: ID!){folder(id: $id){name descendants{totalCount edges{depth node{name description path}}}}}',
    variables: { id: top },
  }),
  search: () => ({ query: '{search(text: "secret", first: 50){items{name description path}}}' }),
  'an export': ({ top }) => ({
    query: 'query($id: ID!){exportFolders(id: $id){path description}}',
    variables: { id: top },
  }),
  trash: () => ({ query: '{trash(first: 50){items{name title formerParent{name folders{items{name}}}}}}' }),
  changes: ({ cursor }) => ({
    query: `query($after: String){changes(after: $after, first: 50){items{kind folder{${folderFields}}}}}`,
    variables: { after: cursor },
  }),
  'the result of createFolder': ({ top }) => ({
    query: mutation(
      'createFolder',
      `folder{name parent{${folderFields} descendants{items{name description}}}}`,
    ),
    variables: { input: { name: 'mine', parentId: top } },
  }),
  'the result of updateFolder': ({ top }) => ({
    query: mutation(
      'updateFolder',
      `folder{${folderFields} descendants{totalCount items{name description}}}`,
    ),
    variables: { input: { id: top, title: 'mine' } },
  }),
  'the result of updateFolder without a long field': ({ top }) => ({
    query: mutation('updateFolder', `folder{${folderFields}}`),
    variables: { input: { id: top, title: 'mine' } },
  }),
  'the result of moveFolder': ({ leaf, top }) => ({
    query: mutation(
      'moveFolder',
      `folderCount folder{${folderFields} descendants{items{name}} parent{${folderFields}}}`,
    ),
    variables: { input: { id: leaf, parentId: top } },
  }),
  'the result of two mutations': ({ top, child }) => ({
    query: `mutation($a: UpdateFolderInput!, $b: DeleteFolderInput!){
      updateFolder(input: $a){folder{${folderFields} descendants{items{name description}}}}
      deleteFolder(input: $b){folderCount}}`,
    variables: { a: { id: top, title: 'mine' }, b: { id: child, recursive: true } },
  }),
  'the result of importFolders': ({ top }) => ({
    query: mutation(
      'importFolders',
      `folderCount parent{${folderFields} descendants{items{name description}}}`,
    ),
    variables: { input: { parentId: top, list: [{ path: 'mine/inside' }] } },
  }),
};

const subscriptions: Readonly<Record<string, string>> = {
  'a subscription': `subscription($under: ID){folderChanges(under: $under){kind folder{${folderFields}}}}`,
  'a subscription with a long field': `subscription($under: ID){folderChanges(under: $under){kind folder{${folderFields} descendants{totalCount items{name description}}}}}`,
};

for (const kind of databaseKinds) {
  describe(`the rights and the data of a response on ${kind.name}`, () => {
    let testbed: MirrorTestbed;
    let adminId: string;
    let viewerId: string;
    let attempts = 0;

    before(async () => {
      testbed = await MirrorTestbed.start(kind);
      adminId = await testbed.administratorId();
      const input = { username: 'viewer', password: 'walnut cabin 1' };
      viewerId = (await run<{ user: { id: string } }>('createUser', input, 'user{id}')).user.id;
    });
    after(() => testbed.stop());

    async function run<Payload>(name: string, input: object, selection = '__typename'): Promise<Payload> {
      const response = await testbed.run<Record<string, Payload>>(adminId, mutation(name, selection), {
        input,
      });
      assert.equal(response.errors, undefined, JSON.stringify(response.errors));
      return response.data![name]!;
    }

    async function create(name: string, parentId?: string): Promise<string> {
      const { folder } = await run<{ folder: { id: string } }>(
        'createFolder',
        { name, parentId },
        'folder{id}',
      );
      return folder.id;
    }

    async function createScene(): Promise<Scene> {
      const name = `top ${++attempts}`;
      const top = await create(name);
      const child = await create('child', top);
      const leaf = await create('leaf', child);
      const gone = await create('gone', top);
      await run('grantAccess', { folderId: top, userId: viewerId, level: 'WRITE' });
      await run('deleteFolder', { id: gone });
      // Read after the grant, because an earlier cursor would only get RESYNC.
      const { data } = await testbed.run<{ cursor: string }>(adminId, '{cursor}');
      await run('updateFolder', { id: child, title: 'seen' });
      await testbed.awaitFeed();
      return { top, child, leaf, path: `/${name}`, cursor: data!.cursor };
    }

    /** Revokes the viewer's access, and then writes data that the viewer must never read. */
    async function revokeAndWriteSecret({ top }: Scene): Promise<void> {
      await run('revokeAccess', { folderId: top, userId: viewerId });
      await run('updateFolder', { id: top, description: 'secret' });
      await create('secret child', top);
      await run('deleteFolder', { id: await create('secret trash', top) });
      await testbed.awaitFeed();
    }

    for (const [title, toRequest] of Object.entries(requests)) {
      test(`come from one snapshot for ${title}`, async () => {
        const reads = await interruptEach(async (scene, services, start) => {
          const graph = createGraph(services);
          start();
          return (await graph.run(toRequest(scene), createViewer(viewerId))).text;
        });
        assert.ok(reads > 2, `${reads} reads were interrupted`);
      });
    }

    for (const [title, query] of Object.entries(subscriptions)) {
      test(`come from one snapshot for an event of ${title}`, async () => {
        const reads = await interruptEach(async (scene, services, start) => {
          const request = { query, variables: { under: scene.top } };
          const stream = (await createGraph(services).open(request, createViewer(viewerId))) as GraphStream;
          await run('updateFolder', { id: scene.top, title: 'changed' });
          await testbed.awaitFeed();
          start();
          const { value } = await stream.next();
          await stream.return();
          return value!.text;
        });
        assert.ok(reads > 2, `${reads} reads were interrupted`);
      });
    }

    for (const selection of ['title description', 'title description descendants{totalCount}']) {
      test(`do not mix two changes in the result of a mutation with ${selection}`, async () => {
        await interruptReads(
          async (scene, services, start) => {
            const input = { id: scene.top, title: 'mine', description: 'mine' };
            start();
            const request = { query: mutation('updateFolder', `folder{${selection}}`), variables: { input } };
            return (await createGraph(services).run(request, createViewer(viewerId))).text;
          },
          async ({ top }) => {
            await run('updateFolder', { id: top, title: 'theirs', description: 'theirs' });
          },
          (text) => {
            const { data } = JSON.parse(text) as {
              data: { updateFolder: { folder: { title: string; description: string } } };
            };
            const { title, description } = data.updateFolder.folder;
            assert.equal(title, description);
          },
        );
      });
    }

    /**
     * Repeats the work with an interruption before each of its reads. Returns the number of reads, or
     * slightly more.
     */
    function interruptEach(
      work: (scene: Scene, services: GraphOptions, start: () => void) => Promise<string>,
    ): Promise<number> {
      return interruptReads(work, revokeAndWriteSecret, (text, at) =>
        assert.doesNotMatch(text, /secret/, `interrupted before read ${at}`),
      );
    }

    async function interruptReads(
      work: (scene: Scene, services: GraphOptions, start: () => void) => Promise<string>,
      interrupt: (scene: Scene) => Promise<void>,
      check: (text: string, at: number) => void,
    ): Promise<number> {
      // SQLite tests every read. Short runs on PostgreSQL test every third read, because the reads are the same
      // and each attempt takes longer.
      const stride = kind === sqlite ? 1 : selectLength({ short: 3, long: 1 });
      for (let at = 1; ; at += stride) {
        const scene = await createScene();
        const interruption = new Interruption(at, () => interrupt(scene));
        const source = testbed.changeServices((services) => interruption.wrap(services));
        const text = await work(scene, source, () => interruption.start());
        check(text, at);
        assert.deepEqual(testbed.bugs.splice(0), [], `interrupted before read ${at}`);
        if (!interruption.hasHappened) {
          assert.equal((JSON.parse(text) as { errors?: unknown }).errors, undefined, text);
          await interrupt(scene);
          return at - 1;
        }
      }
    }
  });
}

/** Runs a change directly before read number `at`. Does not count reads inside of transactions. */
class Interruption {
  #left = Infinity;
  readonly #at: number;
  readonly #interrupt: () => Promise<void>;
  hasHappened = false;

  constructor(at: number, interrupt: () => Promise<void>) {
    this.#at = at;
    this.#interrupt = interrupt;
  }

  /** Starts to count reads. */
  start(): void {
    this.#left = this.#at;
  }

  wrap(services: GraphOptions): GraphOptions {
    const { database } = services;
    // Without `atOnce`, because a single statement cannot be interrupted.
    const rest = { ...database };
    delete (rest as { atOnce?: unknown }).atOnce;
    const interrupted: Database = {
      ...rest,
      ...this.#reader(database),
      openSnapshot: () => this.#snapshot(database.openSnapshot()),
      snapshot: (work) => database.snapshot((snapshot) => work(this.#snapshot(snapshot))),
      shortSnapshot: (work) => database.shortSnapshot((snapshot) => work(this.#snapshot(snapshot))),
    };
    return { ...services, database: interrupted, accessCache: new AccessCache(interrupted) };
  }

  #snapshot(snapshot: Snapshot): Snapshot {
    return { ...snapshot, ...this.#reader(snapshot) };
  }

  #reader(reader: Reader): Reader {
    return {
      all: (statement, parameters) => this.#before(() => reader.all(statement, parameters)),
      get: (statement, parameters) => this.#before(() => reader.get(statement, parameters)),
    };
  }

  #before<T>(read: () => T | Promise<T>): T | Promise<T> {
    if (this.hasHappened || --this.#left > 0) return read();
    this.hasHappened = true;
    return this.#interrupt().then(read);
  }
}
