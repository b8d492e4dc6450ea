/**
 * A client of a user with one grant. It sends one request at a time over a raw connection, so that the client itself
 * needs little CPU time.
 */

import type { LoginResponse } from '@espalier/contract';
import type { Credentials } from '../support/api-client.ts';
import { RawConnection } from '../support/raw-connection.ts';

export interface FolderIds {
  /** The clients list its 50 subfolders. */
  readonly listedId: string;
  /** The clients create folders in it. */
  readonly changedId: string;
}

export const subfolderCount = 50;
const listSubfolders = 'query($id: ID!){folder(id: $id){name folders(first: 50){totalCount items{name}}}}';
const createFolder = 'mutation($input: CreateFolderInput!){createFolder(input: $input){folder{id} cursor}}';

interface ListedFolder {
  readonly folder: { readonly folders: { readonly totalCount: number; readonly items: readonly unknown[] } };
}

export class SizingClient {
  readonly #person: Credentials;
  readonly #folderIds: FolderIds;
  #connection: RawConnection | undefined;
  #tokens: LoginResponse | undefined;
  #createdCount = 0;

  constructor(person: Credentials, folderIds: FolderIds) {
    this.#person = person;
    this.#folderIds = folderIds;
  }

  /** Connects to the node for all later requests. */
  async connect(url: string): Promise<void> {
    this.close();
    this.#connection = await RawConnection.open(url);
  }

  close(): void {
    this.#connection?.close();
  }

  get authToken(): string {
    return this.#tokens!.authToken;
  }

  async logIn(): Promise<void> {
    this.#tokens = await this.#post<LoginResponse>('/login', this.#person);
  }

  async refresh(): Promise<void> {
    const { refreshToken } = this.#tokens!;
    this.#tokens = await this.#post<LoginResponse>('/login/refresh', { refreshToken }, this.authToken);
  }

  async listSubfolders(): Promise<void> {
    const { folder } = await this.#query<ListedFolder>(listSubfolders, { id: this.#folderIds.listedId });
    const { totalCount, items } = folder.folders;
    if (totalCount !== subfolderCount || items.length !== subfolderCount)
      throw new Error(
        `Expected ${subfolderCount} folders, but received ${items.length} and a total of ${totalCount}.`,
      );
  }

  async createFolder(): Promise<void> {
    const { changedId: parentId } = this.#folderIds;
    await this.#query(createFolder, {
      input: { parentId, name: `${this.#person.username}, ${++this.#createdCount}` },
    });
  }

  /** Returns the cursor from which to follow changes. */
  async readCursor(): Promise<string> {
    return (await this.#query<{ cursor: string }>('{cursor}', {})).cursor;
  }

  async #query<Data>(text: string, variables: unknown): Promise<Data> {
    type Body = { data: Data; errors?: unknown };
    const { data, errors } = await this.#post<Body>(
      '/graphql',
      { query: text, variables },
      this.#tokens!.authToken,
    );
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  }

  async #post<Body>(path: string, body: unknown, authToken?: string): Promise<Body> {
    const text = JSON.stringify(body);
    const request = [
      `POST ${path} HTTP/1.1`,
      'Host: localhost',
      ...(authToken ? [`Authorization: Bearer ${authToken}`] : []),
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
      '',
      text,
    ].join('\r\n');
    const response = await this.#connection!.exchange(request);
    if (response?.status !== 200)
      throw new Error(`${path}: ${response?.status ?? 'hung up'} ${response?.body ?? ''}`);
    return JSON.parse(response.body) as Body;
  }
}
