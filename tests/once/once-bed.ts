/** A test server to which requests are sent with an `Idempotency-Key`, more than once. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { DatabaseKind } from '../support/databases.ts';
import { mutation, type GraphBody, type Variables } from '../support/graph-testbed.ts';
import { PeopleTestbed } from '../people/people-testbed.ts';
import { Testbed, type TestResponse, type TestbedOptions } from '../support/testbed.ts';

export interface Keyed {
  readonly key?: string;
  readonly authToken?: string;
  /** Instead of the bed's own: another node. */
  readonly at?: Testbed;
}

type Payloads = Record<string, Record<string, unknown> | null>;

export class OnceBed extends PeopleTestbed {
  static override async start(kind: DatabaseKind, options?: TestbedOptions): Promise<OnceBed> {
    const bed = await Testbed.start(kind, options);
    return new OnceBed(bed, (await bed.logIn()).authToken);
  }

  answer(query: string, variables: Variables, options: Keyed = {}): Promise<TestResponse> {
    const { key = randomUUID(), authToken = this.authToken, at = this.testbed } = options;
    return at.postRaw('/graphql', JSON.stringify({ query, variables }), {
      'content-type': 'application/json',
      authorization: `Bearer ${authToken}`,
      'idempotency-key': key,
    });
  }

  async keyed(query: string, variables: Variables, options?: Keyed): Promise<GraphBody<Payloads>> {
    return (await this.answer(query, variables, options)).json<GraphBody<Payloads>>();
  }

  /** One mutation, done for the first time or not; its payload. */
  async once<Payload>(name: string, input: Variables, selection: string, options?: Keyed): Promise<Payload> {
    const { data, errors } = await this.keyed(mutation(name, selection), { input }, options);
    assert.equal(errors, undefined, `${name} ${JSON.stringify(errors)}`);
    return data![name] as Payload;
  }

  /** One mutation that is refused: the code and the text. */
  async onceRefused(name: string, input: Variables, options?: Keyed): Promise<string> {
    const { errors } = await this.keyed(mutation(name, '__typename'), { input }, options);
    assert.equal(errors?.length, 1, `${name} ${JSON.stringify(errors)}`);
    return `${errors[0]!.extensions.code}: ${errors[0]!.message}`;
  }

  /** Where the journal has got to: the same as before, if nothing was changed. */
  async place(): Promise<string> {
    return (await this.query<{ cursor: string }>('{cursor}')).cursor;
  }

  async folder(name: string, parentId?: string): Promise<string> {
    return (await this.mutate<{ folder: { id: string } }>('createFolder', { name, parentId }, 'folder{id}'))
      .folder.id;
  }
}
