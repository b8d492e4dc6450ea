/** A test server with functions that create, change and compare its tree. */

import assert from 'node:assert/strict';
import type { DatabaseKind } from '../support/databases.ts';
import { GraphTestbed, mutation, type GraphError, type Variables } from '../support/graph-testbed.ts';
import { administrator, Testbed, type TestbedOptions } from '../support/testbed.ts';

export interface ListedFolder {
  readonly path: string;
  readonly title?: string | null;
  readonly properties?: unknown;
}

const snapshotQuery = `{
  folder{id name version updatedAt folders{totalCount}
    descendants{totalCount edges{depth node{id name version createdAt updatedAt folders{totalCount}}}}}
  exportFolders{path title icon description properties}
  trash{items{folderId name version deletedAt}}}`;

export class TreeTestbed extends GraphTestbed {
  #people = 0;

  static async start(kind: DatabaseKind, options?: TestbedOptions): Promise<TreeTestbed> {
    const testbed = await Testbed.start(kind, options);
    return new TreeTestbed(testbed, (await testbed.logIn()).authToken);
  }

  /** Advances the clock, and logs the administrator in again, because the token may have expired. */
  async advanceDays(days: number): Promise<void> {
    this.server.clock.advanceSeconds(days * 86_400);
    ({ authToken: this.authToken } = await this.server.logIn(administrator));
  }

  /** Returns the error of a response without data. Several fields may report the same error. */
  async readError(query: string, variables?: Variables, authToken?: string): Promise<GraphError> {
    const { data, errors } = await this.execute(query, variables, authToken);
    assert.ok(errors, `${query} ${JSON.stringify(variables)}`);
    assert.equal(new Set(errors.map(({ message }) => message)).size, 1, JSON.stringify(errors));
    for (const value of Object.values(data ?? {})) assert.equal(value, null);
    return errors[0]!;
  }

  /** Sends one mutation. Returns 'OK' or its error code. */
  async outcome(name: string, input: Variables, authToken?: string): Promise<string> {
    const { errors } = await this.execute(mutation(name, '__typename'), { input }, authToken);
    return errors?.[0]?.extensions.code ?? 'OK';
  }

  /** Sends a mutation that must fail. Returns its error, and checks that the whole tree is unchanged. */
  async readMutationError(name: string, input: Variables, authToken?: string): Promise<GraphError> {
    const before = await this.snapshot();
    const error = await this.readError(mutation(name, '__typename'), { input }, authToken);
    assert.deepEqual(await this.snapshot(), before);
    return error;
  }

  /** Returns the whole tree and the whole trash. */
  async snapshot(): Promise<unknown> {
    return this.query(snapshotQuery);
  }

  async create(name: string, parentId?: string, more: Variables = {}): Promise<string> {
    const input = { name, parentId, ...more };
    return (await this.mutate<{ folder: { id: string } }>('createFolder', input, 'folder{id}')).folder.id;
  }

  /** Creates folders, each inside the one before. Returns their ids. */
  async createChain(names: readonly string[], parentId?: string): Promise<string[]> {
    const ids: string[] = [];
    for (const name of names) ids.push(await this.create(name, ids.at(-1) ?? parentId));
    return ids;
  }

  async move(id: string, parentId: string): Promise<void> {
    await this.mutate('moveFolder', { id, parentId });
  }

  async delete(id: string): Promise<void> {
    await this.mutate('deleteFolder', { id, recursive: true });
  }

  /** Imports paths below a folder. Returns the number of folders created. */
  async import(list: readonly (ListedFolder | string)[], parentId?: string): Promise<number> {
    const listed = list.map((each) => (typeof each === 'string' ? { path: each } : each));
    const input = { parentId, list: listed };
    return (await this.mutate<{ folderCount: number }>('importFolders', input, 'folderCount')).folderCount;
  }

  /** Returns the paths of all descendants, relative to the folder. */
  async paths(id?: string): Promise<string[]> {
    const query = 'query($id: ID){exportFolders(id: $id){path}}';
    return (await this.query<{ exportFolders: { path: string }[] }>(query, { id })).exportFolders.map(
      ({ path }) => path,
    );
  }

  async find<Folder>(id: string, selection: string, authToken?: string): Promise<Folder | null> {
    const query = `query($id: ID){folder(id: $id){${selection}}}`;
    return (await this.query<{ folder: Folder | null }>(query, { id }, authToken)).folder;
  }

  async idOf(path: string): Promise<string> {
    const query = 'query($path: String){folder(path: $path){id}}';
    return (await this.query<{ folder: { id: string } }>(query, { path })).folder.id;
  }

  async version(id: string): Promise<number> {
    return (await this.find<{ version: number }>(id, 'version'))!.version;
  }

  /** Returns the names that a search finds, in order. */
  async search(text: string, under?: string, authToken?: string): Promise<string[]> {
    const query =
      'query($text: String!, $under: ID){search(text: $text, under: $under){items{name} totalCount}}';
    const { search } = await this.query<{ search: { items: { name: string }[]; totalCount: number } }>(
      query,
      { text, under },
      authToken,
    );
    assert.equal(search.totalCount, search.items.length);
    return search.items.map(({ name }) => name);
  }

  /** Creates a user with these levels on folders, and logs them in. */
  async person(
    levels: Readonly<Record<string, string>>,
  ): Promise<{ id: string; authToken: string; username: string }> {
    const number = ++this.#people;
    const credentials = { username: `person ${number}`, password: `walnut cabin ${number}` };
    const { user } = await this.mutate<{ user: { id: string } }>('createUser', credentials, 'user{id}');
    for (const [folderId, level] of Object.entries(levels)) {
      await this.mutate('grantAccess', { folderId, userId: user.id, level });
    }
    const { authToken } = await this.server.logIn(credentials);
    return { id: user.id, authToken, username: credentials.username };
  }
}
