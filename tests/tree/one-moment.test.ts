/**
 * Rights and data of one answer come from one moment. Each request is interrupted before its first read, its second one,
 * and so on: the viewer loses access there, and only then a secret is written. No answer may show it.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createAccessBook } from '../../server/src/access/access-book.ts';
import type { Database, Reader, Snapshot } from '../../server/src/database/database.ts';
import { createGraph, type GraphOptions, type GraphStream } from '../../server/src/graph/graph.ts';
import type { GraphRequest } from '@espalier/contract';
import { databaseKinds, sqlite } from '../databases.ts';
import { mutation } from '../graph-bed.ts';
import { MirrorBed, viewerOf } from '../live/mirror-bed.ts';
import { lengthOf } from '../run-length.ts';

/** The folders of one attempt. The viewer may write to `top`. */
interface Scene {
  readonly top: string;
  readonly child: string;
  readonly leaf: string;
  readonly path: string;
  /** The journal's cursor before `child` got its title. */
  readonly cursor: string;
}

const listed =
  'id name description version position folders{totalCount items{name description parent{name}}}';

const requests: Readonly<Record<string, (scene: Scene) => GraphRequest>> = {
  'a folder by its id': ({ top }) => ({
    query: `query($id: ID!){node(id: $id){id ...on Folder{${listed}}}}`,
    variables: { id: top },
  }),
  'a folder by its path': ({ path }) => ({
    query: `query($path: String!){folder(path: $path){${listed}}}`,
    variables: { path },
  }),
  'filtered and ordered children': ({ top }) => ({
    query: `query($id: ID!){folder(id: $id){
      a: folders(filter: {nameContains: "e"}){totalCount items{name description}}
      b: folders(first: 2, orderBy: {field: UPDATED, direction: DESC}){edges{cursor node{${listed}}}}}}`,
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
    query: `query($after: String){changes(after: $after, first: 50){items{kind folder{${listed}}}}}`,
    variables: { after: cursor },
  }),
  'the result of createFolder': ({ top }) => ({
    query: mutation('createFolder', `folder{name parent{${listed} descendants{items{name description}}}}`),
    variables: { input: { name: 'mine', parentId: top } },
  }),
  'the result of updateFolder': ({ top }) => ({
    query: mutation('updateFolder', `folder{${listed} descendants{totalCount items{name description}}}`),
    variables: { input: { id: top, title: 'mine' } },
  }),
  'the result of updateFolder without a long field': ({ top }) => ({
    query: mutation('updateFolder', `folder{${listed}}`),
    variables: { input: { id: top, title: 'mine' } },
  }),
  'the result of moveFolder': ({ leaf, top }) => ({
    query: mutation('moveFolder', `folderCount folder{${listed} descendants{items{name}} parent{${listed}}}`),
    variables: { input: { id: leaf, parentId: top } },
  }),
  'the result of two mutations': ({ top, child }) => ({
    query: `mutation($a: UpdateFolderInput!, $b: DeleteFolderInput!){
      updateFolder(input: $a){folder{${listed} descendants{items{name description}}}}
      deleteFolder(input: $b){folderCount}}`,
    variables: { a: { id: top, title: 'mine' }, b: { id: child, recursive: true } },
  }),
  'the result of importFolders': ({ top }) => ({
    query: mutation('importFolders', `folderCount parent{${listed} descendants{items{name description}}}`),
    variables: { input: { parentId: top, list: [{ path: 'mine/inside' }] } },
  }),
};

const subscriptions: Readonly<Record<string, string>> = {
  'a subscription': `subscription($under: ID){folderChanges(under: $under){kind folder{${listed}}}}`,
  'a subscription with a long field': `subscription($under: ID){folderChanges(under: $under){kind folder{${listed} descendants{totalCount items{name description}}}}}`,
};

for (const kind of databaseKinds) {
  describe(`one moment on ${kind.name}`, () => {
    let bed: MirrorBed;
    let adminId: string;
    let viewerId: string;
    let attempts = 0;

    before(async () => {
      bed = await MirrorBed.start(kind);
      adminId = await bed.administratorId();
      const input = { username: 'viewer', password: 'walnut cabin 1' };
      viewerId = (await run<{ user: { id: string } }>('createUser', input, 'user{id}')).user.id;
    });
    after(() => bed.stop());

    async function run<Payload>(name: string, input: object, selection = '__typename'): Promise<Payload> {
      const answer = await bed.run<Record<string, Payload>>(adminId, mutation(name, selection), { input });
      assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
      return answer.data![name]!;
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
      // After the grant: a cursor from before it would only get RESYNC.
      const { data } = await bed.run<{ cursor: string }>(adminId, '{cursor}');
      await run('updateFolder', { id: child, title: 'seen' });
      await bed.place();
      return { top, child, leaf, path: `/${name}`, cursor: data!.cursor };
    }

    /** Takes the viewer's access away, and then writes what the viewer must never read. */
    async function shutOut({ top }: Scene): Promise<void> {
      await run('revokeAccess', { folderId: top, userId: viewerId });
      await run('updateFolder', { id: top, description: 'secret' });
      await create('secret child', top);
      await run('deleteFolder', { id: await create('secret trash', top) });
      await bed.place();
    }

    for (const [title, toRequest] of Object.entries(requests)) {
      test(`holds for ${title}`, async () => {
        const reads = await interruptEach(async (scene, services, start) => {
          const graph = createGraph(services);
          start();
          return (await graph.run(toRequest(scene), viewerOf(viewerId))).text;
        });
        assert.ok(reads > 2, `${reads} reads were interrupted`);
      });
    }

    for (const [title, query] of Object.entries(subscriptions)) {
      test(`holds for an event of ${title}`, async () => {
        const reads = await interruptEach(async (scene, services, start) => {
          const request = { query, variables: { under: scene.top } };
          const stream = (await createGraph(services).open(request, viewerOf(viewerId))) as GraphStream;
          await run('updateFolder', { id: scene.top, title: 'changed' });
          await bed.place();
          start();
          const { value } = await stream.next();
          await stream.return();
          return value!.text;
        });
        assert.ok(reads > 2, `${reads} reads were interrupted`);
      });
    }

    for (const selection of ['title description', 'title description descendants{totalCount}']) {
      test(`shows no mix of two changes in the result of a mutation with ${selection}`, async () => {
        await interruptReads(
          async (scene, services, start) => {
            const input = { id: scene.top, title: 'mine', description: 'mine' };
            start();
            const request = { query: mutation('updateFolder', `folder{${selection}}`), variables: { input } };
            return (await createGraph(services).run(request, viewerOf(viewerId))).text;
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

    /** Attempts the work with an interruption before each of its reads. Returns the number of reads, or a little less. */
    function interruptEach(
      work: (scene: Scene, services: GraphOptions, start: () => void) => Promise<string>,
    ): Promise<number> {
      return interruptReads(work, shutOut, (text, at) =>
        assert.doesNotMatch(text, /secret/, `interrupted before read ${at}`),
      );
    }

    async function interruptReads(
      work: (scene: Scene, services: GraphOptions, start: () => void) => Promise<string>,
      happen: (scene: Scene) => Promise<void>,
      judge: (text: string, at: number) => void,
    ): Promise<number> {
      // Each read on SQLite; elsewhere every third, as the reads are the same and each attempt takes longer.
      const stride = kind === sqlite ? 1 : lengthOf({ short: 3, long: 1 });
      for (let at = 1; ; at += stride) {
        const scene = await createScene();
        const interruption = new Interruption(at, () => happen(scene));
        const source = bed.servicesWith((given) => interruption.into(given));
        const text = await work(scene, source, () => interruption.start());
        judge(text, at);
        assert.deepEqual(bed.bugs.splice(0), [], `interrupted before read ${at}`);
        if (!interruption.hasHappened) {
          assert.equal((JSON.parse(text) as { errors?: unknown }).errors, undefined, text);
          await happen(scene);
          return at - 1;
        }
      }
    }
  });
}

/** Happens right before the read of that number, outside of transactions. */
class Interruption {
  #left = Infinity;
  readonly #at: number;
  readonly #happen: () => Promise<void>;
  hasHappened = false;

  constructor(at: number, happen: () => Promise<void>) {
    this.#at = at;
    this.#happen = happen;
  }

  /** Reads count from here on. */
  start(): void {
    this.#left = this.#at;
  }

  into(given: GraphOptions): GraphOptions {
    const { database } = given;
    // Without `atOnce`: one statement cannot be interrupted.
    const rest = { ...database };
    delete (rest as { atOnce?: unknown }).atOnce;
    const interrupted: Database = {
      ...rest,
      ...this.#reader(database),
      openSnapshot: () => this.#snapshot(database.openSnapshot()),
      snapshot: (work) => database.snapshot((snapshot) => work(this.#snapshot(snapshot))),
      moment: (work) => database.moment((snapshot) => work(this.#snapshot(snapshot))),
    };
    return { ...given, database: interrupted, accessBook: createAccessBook(interrupted) };
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
    return this.#happen().then(read);
  }
}
