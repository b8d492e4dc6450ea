/** A real server, and clients of it that share its clock. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import {
  createClient,
  EspalierError,
  type Client,
  type ClientOptions,
  type ErrorCode,
} from '@espalier/client';
import type { DatabaseKind } from '../support/databases.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { Testbed, type TestbedOptions } from '../support/testbed.ts';
import { Wire } from './wire.ts';

export function rejectsWith(work: Promise<unknown>, code: ErrorCode): Promise<void> {
  return assert.rejects(work, (error) => error instanceof EspalierError && error.code === code);
}

export interface BedClient extends Client {
  readonly wire: Wire;
  /** What its session told. */
  readonly events: string[];
}

export class ClientBed extends PeopleTestbed {
  static override async start(kind: DatabaseKind, options?: TestbedOptions): Promise<ClientBed> {
    const bed = await Testbed.start(kind, options);
    return new ClientBed(bed, (await bed.logIn()).authToken);
  }

  client(test: TestContext, options: Partial<ClientOptions> = {}): BedClient {
    const wire = new Wire();
    const { url, clock } = this.testbed;
    const client = createClient({ url, clock, fetch: wire.fetch, ...options });
    test.after(() => client.close());
    const events: string[] = [];
    client.onSession(({ type }) => events.push(type));
    return Object.assign(client, { wire, events });
  }

  /** Logged in as somebody of its own, whose requests are forgotten. */
  async loggedIn(
    test: TestContext,
    options?: Partial<ClientOptions>,
  ): Promise<BedClient & { person: Person }> {
    const person = await this.createUser({ isAdministrator: true });
    const client = this.client(test, options);
    await client.login(person);
    client.wire.forget();
    return Object.assign(client, { person });
  }

  /** Whoever makes people here has logged in again by then. */
  async elapse(seconds: number): Promise<void> {
    this.testbed.clock.advanceSeconds(seconds);
    ({ authToken: this.authToken } = await this.testbed.logIn());
  }
}
