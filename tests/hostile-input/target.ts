/**
 * The attacked server, with a user called the warden, who is never attacked. The warden gives the attackers fresh
 * tokens and ids, removes their folders, and checks that everything still works exactly as specified.
 */

import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import { ApiClient, type Credentials } from '../support/api-client.ts';
import { mutation } from '../support/graph-testbed.ts';
import { SocketClient } from '../live/socket-client.ts';
import type { Materials } from './hostile-request.ts';

interface Attacker extends Credentials {
  readonly isAdministrator: boolean;
}

const attackers: readonly Attacker[] = [
  { username: 'mallory', password: 'walnut cabin of mallory', isAdministrator: true },
  { username: 'trudy', password: 'walnut cabin of trudy', isAdministrator: false },
];
const groupName = 'attackers';
const maxFolders = 300;

export class Target {
  readonly url: string;
  readonly #warden: Credentials;
  readonly #client: ApiClient;
  #count = 0;

  constructor(url: string, warden: Credentials) {
    this.url = url;
    this.#warden = warden;
    this.#client = new ApiClient(url);
  }

  /** Prepares the attackers and some folders. Returns valid tokens and existing ids for plausible requests. */
  async prepareMaterials(): Promise<Materials> {
    const authToken = await this.#client.logIn(this.#warden);
    const query = <Data>(query: string, variables = {}) =>
      this.#client.query<Data>(query, variables, authToken);
    await this.#clear(query);
    const folders = await this.#createFolders(query);
    const ids = await Promise.all(attackers.map((attacker) => this.#prepare(query, attacker)));
    const [mallory, trudy] = attackers as [Attacker, Attacker];
    const [mallorys, trudys, elsewhere] = [
      await this.#logIn(mallory),
      await this.#logIn(trudy),
      await this.#logIn(trudy),
    ];
    const { groups, changes, folder } = await query<Environment>(environmentQuery);
    const groupId = groups.items.find(({ name }) => name === groupName)?.id;
    return {
      AT: mallorys.authToken,
      RT: mallorys.refreshToken,
      READERAT: trudys.authToken,
      PASSWORD: mallory.password,
      USER: ids[1]!,
      GROUP: groupId ?? (await createGroup(query)),
      SESSION: readSessionId(elsewhere.authToken),
      FOLDERA: folders[0]!,
      FOLDERB: folders[1]!,
      FOLDERC: folders[2]!,
      CURSOR: changes.cursor,
      LISTCURSOR: folder.folders.pageInfo.endCursor!,
    };
  }

  /** Does everything that a normal client does, and checks each response. */
  async checkAllWorks(): Promise<void> {
    const tokens = await this.#logIn(this.#warden);
    assert.deepEqual(Object.keys(tokens).sort(), ['authToken', 'expires_in', 'refreshToken']);
    const refreshResponse = await this.#send(
      '/login/refresh',
      { refreshToken: tokens.refreshToken },
      tokens.authToken,
    );
    assert.equal(refreshResponse.status, 200);
    const { authToken, refreshToken } = (await refreshResponse.json()) as LoginResponse;
    const spentResponse = await this.#send(
      '/login/refresh',
      { refreshToken: tokens.refreshToken },
      authToken,
    );
    assert.equal(spentResponse.status, 401);
    assert.equal((await this.#send('/login/verify', { authToken })).status, 204);
    assert.equal((await this.#send('/login/verify', { authToken: `${authToken}x` })).status, 400);
    assert.equal((await this.#send('/graphql', { query: '{folder{name}}' })).status, 401);
    await this.#checkEvent(authToken);
    assert.equal((await this.#send('/logout', { refreshToken })).status, 204);
    assert.equal((await this.#send('/login/refresh', { refreshToken }, authToken)).status, 401);
  }

  /**
   * Checks that the tree is consistent: each folder follows its parent, one level deeper, and all counts are
   * right.
   */
  async checkTree(): Promise<void> {
    const authToken = await this.#client.logIn(this.#warden);
    const query =
      '{folder{id descendants{totalCount edges{depth node{id parent{id} folders{totalCount}}}}} exportFolders{path}}';
    const { folder, exportFolders } = await this.#client.query<WholeTree>(query, {}, authToken);
    const { edges, totalCount } = folder.descendants;
    const depths = new Map([[folder.id, 0]]);
    const children = new Map<string, number>();
    for (const { depth, node } of edges) {
      assert.equal(depth, depths.get(node.parent.id)! + 1);
      depths.set(node.id, depth);
      children.set(node.parent.id, (children.get(node.parent.id) ?? 0) + 1);
    }
    for (const { node } of edges) assert.equal(node.folders.totalCount, children.get(node.id) ?? 0);
    assert.deepEqual([edges.length, exportFolders.length], [totalCount, totalCount]);
  }

  async #checkEvent(authToken: string): Promise<void> {
    const name = `canary ${++this.#count}`;
    const socket = await SocketClient.connect(this.url, authToken);
    try {
      const { cursor } = await this.#client.query<{ cursor: string }>('{cursor}', {}, authToken);
      const query = 'subscription($after: String){folderChanges(after: $after){kind folder{name}}}';
      socket.start('1', query, { after: cursor });
      const create = mutation('createFolder', 'folder{id name}');
      const { createFolder } = await this.#client.query<Created>(create, { input: { name } }, authToken);
      // Attackers may change the tree at the same time.
      for (;;) {
        const { type, payload } = await socket.next();
        if (type === 'ping') continue;
        assert.equal(type, 'next', JSON.stringify(payload));
        const { folderChanges } = payload!['data'] as { folderChanges: Change };
        if (folderChanges.kind === 'CREATE' && folderChanges.folder?.name === name) break;
      }
      const remove = mutation('deleteFolder', 'folderCount');
      const deleted = await this.#client.query<Deleted>(
        remove,
        { input: { id: createFolder.folder.id } },
        authToken,
      );
      assert.equal(deleted.deleteFolder.folderCount, 1);
    } finally {
      await socket.close();
    }
  }

  async #clear(query: RunQuery): Promise<void> {
    const all = '{folder{folders{items{id}} descendants(first: 1){totalCount}}}';
    const { folder } = await query<{
      folder: { folders: { items: Id[] }; descendants: { totalCount: number } };
    }>(all);
    if (folder.descendants.totalCount <= maxFolders) return;
    for (const { id } of folder.folders.items) {
      await query(mutation('deleteFolder', 'folderId'), { input: { id, recursive: true } });
    }
  }

  async #createFolders(query: RunQuery): Promise<string[]> {
    const name = `house ${++this.#count}`;
    const tree = [{ name, folders: [{ name: 'Floor 2' }, { name: 'Floor 10' }] }];
    await query(mutation('importFolders', 'folderCount'), { input: { tree } });
    const document = 'query($path: String){folder(path: $path){id folders{items{id}}}}';
    const { folder } = await query<{ folder: Id & { folders: { items: Id[] } } }>(document, {
      path: `/${name}`,
    });
    return [folder.id, ...folder.folders.items.map(({ id }) => id)];
  }

  /**
   * Restores an attacker, because attackers may have deleted, disabled or demoted each other. Returns the id
   * of the user.
   */
  async #prepare(query: RunQuery, { username, password, isAdministrator }: Attacker): Promise<string> {
    const { user } = await query<{ user: Id | null }>(
      'query($username: String){user(username: $username){id}}',
      {
        username,
      },
    );
    if (!user) {
      const input = { username, password, isAdministrator };
      return (await query<{ createUser: { user: Id } }>(mutation('createUser', 'user{id}'), { input }))
        .createUser.user.id;
    }
    const { id } = user;
    const input = { id, isAdministrator, isDisabled: false };
    await query(mutation('updateUser', 'user{id}'), { input });
    const attempt = await this.#send('/login', { username, password });
    if (attempt.status !== 200) {
      await query(mutation('resetPassword', 'endedSessions'), { input: { userId: id, password } });
    }
    return id;
  }

  async #logIn({ username, password }: Credentials): Promise<LoginResponse> {
    const response = await this.#send('/login', { username, password });
    assert.equal(response.status, 200, `${username} cannot log in`);
    return (await response.json()) as LoginResponse;
  }

  #send(path: string, body: unknown, authToken?: string): Promise<Response> {
    return fetch(this.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(authToken && { authorization: `Bearer ${authToken}` }),
      },
      body: JSON.stringify(body),
    });
  }
}

type RunQuery = <Data>(query: string, variables?: Record<string, unknown>) => Promise<Data>;
type Id = { id: string };
type Created = { createFolder: { folder: Id } };
type Deleted = { deleteFolder: { folderCount: number } };
type Change = { kind: string; folder: { name: string } | null };

interface WholeTree {
  readonly folder: Id & {
    readonly descendants: {
      readonly totalCount: number;
      readonly edges: readonly {
        readonly depth: number;
        readonly node: Id & { readonly parent: Id; readonly folders: { readonly totalCount: number } };
      }[];
    };
  };
  readonly exportFolders: readonly unknown[];
}

const environmentQuery =
  '{groups(first: 1000){items{id name}} changes(first: 1){cursor} folder{folders(first: 1){pageInfo{endCursor}}}}';
interface Environment {
  readonly groups: { readonly items: readonly { id: string; name: string }[] };
  readonly changes: { readonly cursor: string };
  readonly folder: { readonly folders: { readonly pageInfo: { readonly endCursor: string | null } } };
}

async function createGroup(query: RunQuery): Promise<string> {
  const input = { name: groupName };
  return (await query<{ createGroup: { group: Id } }>(mutation('createGroup', 'group{id}'), { input }))
    .createGroup.group.id;
}

function readSessionId(authToken: string): string {
  const claims = JSON.parse(Buffer.from(authToken.split('.')[1]!, 'base64url').toString()) as { sid: string };
  return claims.sid;
}
