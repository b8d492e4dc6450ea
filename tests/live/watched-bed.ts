/** A test server for programs that watch: others write, and time goes by until tokens end. */

import type { DatabaseKind } from '../databases.ts';
import { PeopleBed, type Person } from '../people/people-bed.ts';
import { Testbed, type TestbedOptions } from '../testbed.ts';

/** As the server has it unless it is set. */
export const tokenSeconds = 600;
export const warningSeconds = 60;

export const expired = { code: 4403, reason: 'INVALID_AUTH_TOKEN' };
export const whoAmI = { query: '{viewer{user{username} tokenExpiresAt}}' };

export function makeFolder(name: string) {
  return {
    query: 'mutation($input: CreateFolderInput!){createFolder(input: $input){folder{name}}}',
    variables: { input: { name } },
  };
}

export class WatchedBed extends PeopleBed {
  #folders = 0;

  static override async start(kind: DatabaseKind, options?: TestbedOptions): Promise<WatchedBed> {
    const bed = await Testbed.start(kind, options);
    return new WatchedBed(bed, (await bed.logIn()).authToken);
  }

  get socketUrl(): string {
    return `${this.bed.url.replace(/^http/, 'ws')}/graphql`;
  }

  /** Somebody who sees every folder. */
  createWatcher(): Promise<Person> {
    return this.createUser({ isAdministrator: true });
  }

  async writeFolders(count: number): Promise<void> {
    for (let done = 0; done < count; done++) {
      await this.run('createFolder', { name: `folder ${++this.#folders}` });
    }
  }

  /** Whoever writes has logged in again by then. */
  async advance(seconds: number): Promise<void> {
    this.bed.clock.advanceSeconds(seconds);
    ({ authToken: this.authToken } = await this.bed.logIn());
  }

  timeIn(seconds: number): string {
    return new Date(this.bed.clock.now() + seconds * 1000).toISOString();
  }
}
