/** A real server and clients that share its clock. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import {
  createClient,
  EspalierError,
  type Client,
  type SessionClientOptions,
  type ErrorCode,
} from '@espalier/client';
import type { DatabaseKind } from '../support/databases.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { Testbed, type TestbedOptions } from '../support/testbed.ts';
import { Wire } from './wire.ts';

export function assertRejectsWith(work: Promise<unknown>, code: ErrorCode): Promise<void> {
  return assert.rejects(work, (error) => error instanceof EspalierError && error.code === code);
}

export interface TestClient extends Client {
  readonly wire: Wire;
  /** The types of all session events of the client. */
  readonly events: string[];
}

export class ClientTestbed extends PeopleTestbed {
  static override async start(kind: DatabaseKind, options?: TestbedOptions): Promise<ClientTestbed> {
    const testbed = await Testbed.start(kind, options);
    return new ClientTestbed(testbed, (await testbed.logIn()).authToken);
  }

  createClient(test: TestContext, options: Partial<SessionClientOptions> = {}): TestClient {
    const wire = new Wire();
    const { url, clock } = this.server;
    const client = createClient({ url, clock, fetch: wire.fetch, ...options });
    test.after(() => client.close());
    const events: string[] = [];
    client.onSession(({ type }) => events.push(type));
    return Object.assign(client, { wire, events });
  }

  /** Creates a client that is logged in as its own user, with an empty request log. */
  async createLoggedInClient(
    test: TestContext,
    options?: Partial<SessionClientOptions>,
  ): Promise<TestClient & { person: Person }> {
    const person = await this.createUser({ isAdministrator: true });
    const client = this.createClient(test, options);
    await client.login(person);
    client.wire.clear();
    return Object.assign(client, { person });
  }

  /** Advances the clock and logs in the administrator of this testbed again. */
  async advanceSeconds(seconds: number): Promise<void> {
    this.server.clock.advanceSeconds(seconds);
    ({ authToken: this.authToken } = await this.server.logIn());
  }
}
