/** A test server that is asked over the graph, by the administrator unless another token is given. */

import assert from 'node:assert/strict';
import type { Testbed } from './testbed.ts';

export type Variables = Record<string, unknown>;

export interface GraphError {
  readonly message: string;
  readonly path?: readonly unknown[];
  readonly extensions: { readonly code: string; readonly version?: number };
}

export interface GraphBody<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly GraphError[];
}

export class GraphBed {
  readonly bed: Testbed;
  authToken: string;

  constructor(bed: Testbed, authToken: string) {
    this.bed = bed;
    this.authToken = authToken;
  }

  stop(): Promise<void> {
    return this.bed.stop();
  }

  async body<Data>(query: string, variables?: Variables, authToken?: string): Promise<GraphBody<Data>> {
    return (await this.bed.query(query, authToken ?? this.authToken, variables)).json<GraphBody<Data>>();
  }

  /** The data of an answer without errors. */
  async ask<Data>(query: string, variables?: Variables, authToken?: string): Promise<Data> {
    const { data, errors } = await this.body<Data>(query, variables, authToken);
    assert.equal(errors, undefined, `${query} ${JSON.stringify(errors)}`);
    return data!;
  }

  /** Runs one mutation with its `input`; `selection` is of its payload. */
  async run<Payload>(
    name: string,
    input: Variables,
    selection = '__typename',
    authToken?: string,
  ): Promise<Payload> {
    const data = await this.ask<Record<string, Payload>>(mutation(name, selection), { input }, authToken);
    return data[name]!;
  }
}

export function mutation(name: string, selection: string): string {
  const inputType = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
  return `mutation($input: ${inputType}!){${name}(input: $input){${selection}}}`;
}
