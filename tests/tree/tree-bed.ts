/** A test server with a tree that tests grow, change and compare. */

import assert from 'node:assert/strict';
import type { DatabaseKind } from '../databases.ts';
import { GraphBed, mutation, type GraphError, type Variables } from '../graph-bed.ts';
import { administrator, Testbed, type TestbedOptions } from '../testbed.ts';

export interface ListedFolder {
  readonly path: string;
  readonly title?: string | null;
  readonly properties?: unknown;
}

const everything = `{
  folder{id name version updatedAt folders{totalCount}
    descendants{totalCount edges{depth node{id name version createdAt updatedAt folders{totalCount}}}}}
  exportFolders{path title icon description properties}
  trash{items{folderId name version deletedAt}}}`;

export class TreeBed extends GraphBed {
  #people = 0;

  static async start(kind: DatabaseKind, options?: TestbedOptions): Promise<TreeBed> {
    const bed = await Testbed.start(kind, options);
    return new TreeBed(bed, (await bed.logIn()).authToken);
  }

  /** Moves the clock, beyond the end of tokens if need be: the administrator has a new one then. */
  async advanceDays(days: number): Promise<void> {
    this.bed.clock.advanceSeconds(days * 86_400);
    ({ authToken: this.authToken } = await this.bed.logIn(administrator));
  }

  /** The error of an answer without data; several fields may meet it. */
  async refusal(query: string, variables?: Variables, authToken?: string): Promise<GraphError> {
    const { data, errors } = await this.body(query, variables, authToken);
    assert.ok(errors, `${query} ${JSON.stringify(variables)}`);
    assert.equal(new Set(errors.map(({ message }) => message)).size, 1, JSON.stringify(errors));
    for (const value of Object.values(data ?? {})) assert.equal(value, null);
    return errors[0]!;
  }

  /** Sends one mutation, whatever becomes of it: 'OK' or the code of its error. */
  async outcome(name: string, input: Variables, authToken?: string): Promise<string> {
    const { errors } = await this.body(mutation(name, '__typename'), { input }, authToken);
    return errors?.[0]?.extensions.code ?? 'OK';
  }

  /** The error of a mutation after which the whole tree is as it was before. */
  async refused(name: string, input: Variables, authToken?: string): Promise<GraphError> {
    const before = await this.snapshot();
    const error = await this.refusal(mutation(name, '__typename'), { input }, authToken);
    assert.deepEqual(await this.snapshot(), before);
    return error;
  }

  /** All there is to see of the tree and the trash. */
  async snapshot(): Promise<unknown> {
    return this.ask(everything);
  }

  async create(name: string, parentId?: string, more: Variables = {}): Promise<string> {
    const input = { name, parentId, ...more };
    return (await this.run<{ folder: { id: string } }>('createFolder', input, 'folder{id}')).folder.id;
  }

  /** A new folder in the folder before, and so on; answers with their ids. */
  async createChain(names: readonly string[], parentId?: string): Promise<string[]> {
    const ids: string[] = [];
    for (const name of names) ids.push(await this.create(name, ids.at(-1) ?? parentId));
    return ids;
  }

  async move(id: string, parentId: string): Promise<void> {
    await this.run('moveFolder', { id, parentId });
  }

  async delete(id: string): Promise<void> {
    await this.run('deleteFolder', { id, recursive: true });
  }

  /** Imports paths below a folder; answers how many folders that made. */
  async import(list: readonly (ListedFolder | string)[], parentId?: string): Promise<number> {
    const listed = list.map((each) => (typeof each === 'string' ? { path: each } : each));
    const input = { parentId, list: listed };
    return (await this.run<{ folderCount: number }>('importFolders', input, 'folderCount')).folderCount;
  }

  /** The paths of all that is inside a folder, as they are below it. */
  async paths(id?: string): Promise<string[]> {
    const query = 'query($id: ID){exportFolders(id: $id){path}}';
    return (await this.ask<{ exportFolders: { path: string }[] }>(query, { id })).exportFolders.map(
      ({ path }) => path,
    );
  }

  async find<Folder>(id: string, selection: string, authToken?: string): Promise<Folder | null> {
    const query = `query($id: ID){folder(id: $id){${selection}}}`;
    return (await this.ask<{ folder: Folder | null }>(query, { id }, authToken)).folder;
  }

  async idOf(path: string): Promise<string> {
    const query = 'query($path: String){folder(path: $path){id}}';
    return (await this.ask<{ folder: { id: string } }>(query, { path })).folder.id;
  }

  async version(id: string): Promise<number> {
    return (await this.find<{ version: number }>(id, 'version'))!.version;
  }

  /** The names that a search finds, in their order. */
  async search(text: string, under?: string, authToken?: string): Promise<string[]> {
    const query =
      'query($text: String!, $under: ID){search(text: $text, under: $under){items{name} totalCount}}';
    const { search } = await this.ask<{ search: { items: { name: string }[]; totalCount: number } }>(
      query,
      { text, under },
      authToken,
    );
    assert.equal(search.totalCount, search.items.length);
    return search.items.map(({ name }) => name);
  }

  /** A new user with these levels on folders; answers with their id and auth token. */
  async person(
    levels: Readonly<Record<string, string>>,
  ): Promise<{ id: string; authToken: string; username: string }> {
    const number = ++this.#people;
    const credentials = { username: `person ${number}`, password: `walnut cabin ${number}` };
    const { user } = await this.run<{ user: { id: string } }>('createUser', credentials, 'user{id}');
    for (const [folderId, level] of Object.entries(levels)) {
      await this.run('grantAccess', { folderId, userId: user.id, level });
    }
    const { authToken } = await this.bed.logIn(credentials);
    return { id: user.id, authToken, username: credentials.username };
  }
}
