/** A test server with functions that create users and groups. */

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
    const testbed = await Testbed.start(kind, options);
    const { authToken } = await testbed.logIn();
    return new PeopleTestbed(testbed, authToken);
  }

  /** Returns the code and the message of the only error of a response. */
  async queryError(query: string, variables: Variables = {}, authToken = this.authToken): Promise<string> {
    const { errors } = await this.execute(query, variables, authToken);
    assert.equal(errors?.length, 1, `${query} ${JSON.stringify(errors)}`);
    return `${errors[0]!.extensions.code}: ${errors[0]!.message}`;
  }

  async mutationError(name: string, input: Variables, authToken?: string): Promise<string> {
    return this.queryError(mutation(name, '__typename'), { input }, authToken);
  }

  async createUser(options: Partial<Person> & { isAdministrator?: boolean } = {}): Promise<Person> {
    const number = ++this.#people;
    const { username = `person ${number}`, password = `walnut cabin ${number}` } = options;
    const input = { username, password, isAdministrator: options.isAdministrator ?? false };
    const { user } = await this.mutate<{ user: { id: string } }>('createUser', input, 'user{id}');
    return { id: user.id, username, password };
  }

  async createGroup(name: string): Promise<string> {
    return (await this.mutate<{ group: { id: string } }>('createGroup', { name }, 'group{id}')).group.id;
  }

  async logIn({ username, password }: Person): Promise<LoginResponse> {
    return this.server.logIn({ username, password });
  }

  /** Returns the status of a query, of a refresh and of a login. */
  async statuses(
    person: Person,
    tokens: LoginResponse,
  ): Promise<{ graph: number; refresh: number; login: number }> {
    return {
      graph: (await this.server.query('{__typename}', tokens.authToken)).status,
      refresh: (await this.server.refresh(tokens)).status,
      login: (await this.server.post('/login', { username: person.username, password: person.password }))
        .status,
    };
  }
}
