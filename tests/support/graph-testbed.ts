/** A test server with a GraphQL client. Requests use the administrator's token unless another token is passed. */

import assert from 'node:assert/strict';
import type { Testbed } from './testbed.ts';

export type Variables = Record<string, unknown>;

export interface GraphError {
  readonly message: string;
  readonly path?: readonly unknown[];
  readonly extensions: { readonly code: string; readonly version?: number; readonly inputField?: string };
}

export interface GraphBody<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly GraphError[];
}

export class GraphTestbed {
  readonly server: Testbed;
  authToken: string;

  constructor(server: Testbed, authToken: string) {
    this.server = server;
    this.authToken = authToken;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  async execute<Data>(query: string, variables?: Variables, authToken?: string): Promise<GraphBody<Data>> {
    const body = (await this.server.query(query, authToken ?? this.authToken, variables)).json<
      GraphBody<Data>
    >();
    return { ...body, ...(body.errors && { errors: body.errors.map(withoutRequestId) }) };
  }

  /** Returns the data of a response without errors. */
  async query<Data>(query: string, variables?: Variables, authToken?: string): Promise<Data> {
    const { data, errors } = await this.execute<Data>(query, variables, authToken);
    assert.equal(errors, undefined, `${query} ${JSON.stringify(errors)}`);
    return data!;
  }

  /** Runs one mutation. `selection` selects fields of its payload. */
  async mutate<Payload>(
    name: string,
    input: Variables,
    selection = '__typename',
    authToken?: string,
  ): Promise<Payload> {
    const data = await this.query<Record<string, Payload>>(mutation(name, selection), { input }, authToken);
    return data[name]!;
  }
}

/** Removes the request id, which every error contains and which differs in each response. */
export function withoutRequestId<E extends { readonly extensions: object }>(error: E): E {
  const { requestId, ...extensions } = error.extensions as { requestId?: unknown };
  assert.match(String(requestId), /^[\w-]{8}-\d+$/, JSON.stringify(error));
  return { ...error, extensions };
}

export function mutation(name: string, selection: string): string {
  const inputType = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
  return `mutation($input: ${inputType}!){${name}(input: $input){${selection}}}`;
}
