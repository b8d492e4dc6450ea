/** A test server, and requests to it with an `Idempotency-Key`. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { DatabaseKind } from '../support/databases.ts';
import { mutation, type GraphBody, type Variables } from '../support/graph-testbed.ts';
import { PeopleTestbed } from '../people/people-testbed.ts';
import { Testbed, type TestResponse, type TestbedOptions } from '../support/testbed.ts';

export interface KeyedOptions {
  readonly key?: string;
  readonly authToken?: string;
  /** The node that gets the request, if it is not the default node. */
  readonly at?: Testbed;
}

export interface Scenario {
  /**
   * Creates the required objects. Returns the input, and the token of the sender unless the sender is the
   * administrator.
   */
  readonly prepare: (testbed: IdempotencyTestbed) => Promise<{ input: Variables; authToken?: string }>;
  readonly selection: string;
  /** Input that makes it a different change, by default another id or name. 'any' if the mutation ignores the key. */
  readonly other?: Variables | 'any';
}

type Payloads = Record<string, Record<string, unknown> | null>;

export class IdempotencyTestbed extends PeopleTestbed {
  static override async start(kind: DatabaseKind, options?: TestbedOptions): Promise<IdempotencyTestbed> {
    const testbed = await Testbed.start(kind, options);
    return new IdempotencyTestbed(testbed, (await testbed.logIn()).authToken);
  }

  send(query: string, variables: Variables, options: KeyedOptions = {}): Promise<TestResponse> {
    const { key = randomUUID(), authToken = this.authToken, at = this.server } = options;
    return at.postRaw('/graphql', JSON.stringify({ query, variables }), {
      'content-type': 'application/json',
      authorization: `Bearer ${authToken}`,
      'idempotency-key': key,
    });
  }

  async executeWithKey(
    query: string,
    variables: Variables,
    options?: KeyedOptions,
  ): Promise<GraphBody<Payloads>> {
    return (await this.send(query, variables, options)).json<GraphBody<Payloads>>();
  }

  /** Runs one mutation, new or repeated, and returns its payload. */
  async mutateWithKey<Payload>(
    name: string,
    input: Variables,
    selection: string,
    options?: KeyedOptions,
  ): Promise<Payload> {
    const { data, errors } = await this.executeWithKey(mutation(name, selection), { input }, options);
    assert.equal(errors, undefined, `${name} ${JSON.stringify(errors)}`);
    return data![name] as Payload;
  }

  /** Runs one mutation that is refused, and returns the code and the message. */
  async mutateRefusedWithKey(name: string, input: Variables, options?: KeyedOptions): Promise<string> {
    const { errors } = await this.executeWithKey(mutation(name, '__typename'), { input }, options);
    assert.equal(errors?.length, 1, `${name} ${JSON.stringify(errors)}`);
    return `${errors[0]!.extensions.code}: ${errors[0]!.message}`;
  }

  /** Returns the head of the journal, which stays the same if nothing changes. */
  async readCursor(): Promise<string> {
    return (await this.query<{ cursor: string }>('{cursor}')).cursor;
  }

  async createFolder(name: string, parentId?: string): Promise<string> {
    return (await this.mutate<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}'))
      .folder.id;
  }
}
