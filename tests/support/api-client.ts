/** A minimal client for a server in another process. It throws on every response that is not a success. */

import type { LoginResponse } from '@espalier/contract';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export class ApiClient {
  readonly url: string;
  readonly #signal: AbortSignal | null;

  constructor(url: string, signal: AbortSignal | null = null) {
    this.url = url;
    this.#signal = signal;
  }

  async logIn(credentials: Credentials): Promise<string> {
    return (await this.#post<LoginResponse>('/login', credentials)).authToken;
  }

  /** Returns the data of a response without errors. */
  async query<Data>(query: string, variables: Record<string, unknown>, authToken: string): Promise<Data> {
    type Body = { data: Data; errors?: unknown };
    const { data, errors } = await this.#post<Body>('/graphql', { query, variables }, authToken);
    if (errors) throw new Error(`${query}: ${JSON.stringify(errors)}`);
    return data;
  }

  async #post<T>(path: string, body: unknown, authToken?: string): Promise<T> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(authToken && { authorization: `Bearer ${authToken}` }),
      },
      body: JSON.stringify(body),
      signal: this.#signal,
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
}
