/**
 * A test server for programs that subscribe. The test writes folders and advances the clock until tokens
 * expire.
 */

import type { DatabaseKind } from '../support/databases.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { Testbed, type TestbedOptions } from '../support/testbed.ts';

/** The default token lifetime of the server, and the time of its warning before expiry. */
export const tokenSeconds = 600;
export const warningSeconds = 60;

export const expiredClose = { code: 4403, reason: 'INVALID_AUTH_TOKEN' };
export const viewerQuery = { query: '{viewer{user{username} tokenExpiresAt}}' };

export function createFolderRequest(name: string) {
  return {
    query: 'mutation($input: CreateFolderInput!){createFolder(input: $input){folder{name}}}',
    variables: { input: { name } },
  };
}

export class WatchTestbed extends PeopleTestbed {
  #folders = 0;

  static override async start(kind: DatabaseKind, options?: TestbedOptions): Promise<WatchTestbed> {
    const testbed = await Testbed.start(kind, options);
    return new WatchTestbed(testbed, (await testbed.logIn()).authToken);
  }

  get socketUrl(): string {
    return `${this.server.url.replace(/^http/, 'ws')}/graphql`;
  }

  /** Creates a user who sees every folder. */
  createWatcher(): Promise<Person> {
    return this.createUser({ isAdministrator: true });
  }

  async writeFolders(count: number): Promise<void> {
    for (let created = 0; created < count; created++) {
      await this.mutate('createFolder', { name: `folder ${++this.#folders}` });
    }
  }

  /** Advances the clock, and logs in again, because the token of this testbed may have expired. */
  async advance(seconds: number): Promise<void> {
    this.server.clock.advanceSeconds(seconds);
    ({ authToken: this.authToken } = await this.server.logIn());
  }

  timeIn(seconds: number): string {
    return new Date(this.server.clock.now() + seconds * 1000).toISOString();
  }
}
