/** A user with one grant who sends one request after the other, over a cheap connection. */

import type { LoginResponse } from '@espalier/contract';
import type { Credentials } from '../support/api-client.ts';
import { RawConnection } from '../support/raw-connection.ts';

export interface Places {
  /** Contains 50 folders. */
  readonly shelfId: string;
  /** Receives the changes. */
  readonly deskId: string;
}

export const foldersOnShelf = 50;
const query = 'query($id: ID!){folder(id: $id){name folders(first: 50){totalCount items{name}}}}';
const change = 'mutation($input: CreateFolderInput!){createFolder(input: $input){folder{id} cursor}}';

interface Shelf {
  readonly folder: { readonly folders: { readonly totalCount: number; readonly items: readonly unknown[] } };
}

export class SizingClient {
  readonly #person: Credentials;
  readonly #places: Places;
  #connection: RawConnection | undefined;
  #pair: LoginResponse | undefined;
  #made = 0;

  constructor(person: Credentials, places: Places) {
    this.#person = person;
    this.#places = places;
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
    return this.#pair!.authToken;
  }

  async logIn(): Promise<void> {
    this.#pair = await this.#post<LoginResponse>('/login', this.#person);
  }

  async refresh(): Promise<void> {
    const { refreshToken } = this.#pair!;
    this.#pair = await this.#post<LoginResponse>('/login/refresh', { refreshToken }, this.authToken);
  }

  async look(): Promise<void> {
    const { folder } = await this.#ask<Shelf>(query, { id: this.#places.shelfId });
    const { totalCount, items } = folder.folders;
    if (totalCount !== foldersOnShelf || items.length !== foldersOnShelf)
      throw new Error(`Of ${foldersOnShelf} folders, ${items.length} were told of ${totalCount}.`);
  }

  async change(): Promise<void> {
    const { deskId: parentId } = this.#places;
    await this.#ask(change, { input: { parentId, name: `${this.#person.username}, ${++this.#made}` } });
  }

  /** The cursor from which to follow changes. */
  async cursor(): Promise<string> {
    return (await this.#ask<{ cursor: string }>('{cursor}', {})).cursor;
  }

  async #ask<Data>(text: string, variables: unknown): Promise<Data> {
    type Body = { data: Data; errors?: unknown };
    const { data, errors } = await this.#post<Body>(
      '/graphql',
      { query: text, variables },
      this.#pair!.authToken,
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
    const answer = await this.#connection!.exchange(request);
    if (answer?.status !== 200)
      throw new Error(`${path}: ${answer?.status ?? 'hung up'} ${answer?.body ?? ''}`);
    return JSON.parse(answer.body) as Body;
  }
}
