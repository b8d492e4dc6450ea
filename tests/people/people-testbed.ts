/** A test server with people in it: an administrator, and users who are made as a test needs them. */

import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import type { DatabaseKind } from '../support/databases.ts';
import { GraphTestbed, mutation, type Variables } from '../support/graph-testbed.ts';
import { Testbed, type TestbedOptions } from '../support/testbed.ts';

export interface Person {
  readonly id: string;
  readonly username: string;
  readonly password: string;
}

export class PeopleTestbed extends GraphTestbed {
  #people = 0;

  static async start(kind: DatabaseKind, options?: TestbedOptions): Promise<PeopleTestbed> {
    const bed = await Testbed.start(kind, options);
    const { authToken } = await bed.logIn();
    return new PeopleTestbed(bed, authToken);
  }

  /** The one error of an answer, its code and its text. */
  async refusal(query: string, variables: Variables = {}, authToken = this.authToken): Promise<string> {
    const { errors } = await this.execute(query, variables, authToken);
    assert.equal(errors?.length, 1, `${query} ${JSON.stringify(errors)}`);
    return `${errors[0]!.extensions.code}: ${errors[0]!.message}`;
  }

  async runRefused(name: string, input: Variables, authToken?: string): Promise<string> {
    return this.refusal(mutation(name, '__typename'), { input }, authToken);
  }

  async createUser(given: Partial<Person> & { isAdministrator?: boolean } = {}): Promise<Person> {
    const number = ++this.#people;
    const { username = `person ${number}`, password = `walnut cabin ${number}` } = given;
    const input = { username, password, isAdministrator: given.isAdministrator ?? false };
    const { user } = await this.mutate<{ user: { id: string } }>('createUser', input, 'user{id}');
    return { id: user.id, username, password };
  }

  async createGroup(name: string): Promise<string> {
    return (await this.mutate<{ group: { id: string } }>('createGroup', { name }, 'group{id}')).group.id;
  }

  async logIn({ username, password }: Person): Promise<LoginResponse> {
    return this.testbed.logIn({ username, password });
  }

  /** What becomes of a token pair: the status of a query, of a refresh, and of a login. */
  async statuses(
    person: Person,
    pair: LoginResponse,
  ): Promise<{ graph: number; refresh: number; login: number }> {
    return {
      graph: (await this.testbed.query('{__typename}', pair.authToken)).status,
      refresh: (await this.testbed.refresh(pair)).status,
      login: (await this.testbed.post('/login', { username: person.username, password: person.password }))
        .status,
    };
  }
}
