/** A test server with people in it: an administrator, and users who are made as a test needs them. */

import assert from 'node:assert/strict';
import type { LoginResponse } from '@espalier/contract';
import type { DatabaseKind } from './databases.ts';
import { Testbed, type TestbedOptions } from './testbed.ts';

export interface Person {
  readonly id: string;
  readonly username: string;
  readonly password: string;
}

export interface GraphBody<Data> {
  data?: Data | null;
  errors?: { message: string; path?: unknown[]; extensions: { code: string } }[];
}

type Variables = Record<string, unknown>;

export class PeopleBed {
  readonly bed: Testbed;
  /** The administrator's auth token. */
  readonly authToken: string;
  #people = 0;

  static async start(kind: DatabaseKind, options?: TestbedOptions): Promise<PeopleBed> {
    const bed = await Testbed.start(kind, options);
    const { authToken } = await bed.logIn();
    return new PeopleBed(bed, authToken);
  }

  private constructor(bed: Testbed, authToken: string) {
    this.bed = bed;
    this.authToken = authToken;
  }

  stop(): Promise<void> {
    return this.bed.stop();
  }

  /** The data of an answer without errors; the administrator asks unless another token is given. */
  async ask<Data>(query: string, variables: Variables = {}, authToken = this.authToken): Promise<Data> {
    const { data, errors } = await this.body<Data>(query, variables, authToken);
    assert.equal(errors, undefined, JSON.stringify(errors));
    return data!;
  }

  async body<Data>(
    query: string,
    variables: Variables = {},
    authToken = this.authToken,
  ): Promise<GraphBody<Data>> {
    return (await this.bed.query(query, authToken, variables)).json<GraphBody<Data>>();
  }

  /** The one error of an answer, its code and its text. */
  async refusal(query: string, variables: Variables = {}, authToken = this.authToken): Promise<string> {
    const { errors } = await this.body(query, variables, authToken);
    assert.equal(errors?.length, 1, `${query} ${JSON.stringify(errors)}`);
    return `${errors[0]!.extensions.code}: ${errors[0]!.message}`;
  }

  /** Runs one mutation with its `input`; `selection` is of its payload. */
  async run<Payload>(
    name: string,
    input: Variables,
    selection: string,
    authToken?: string,
  ): Promise<Payload> {
    const data = await this.ask<Record<string, Payload>>(mutation(name, selection), { input }, authToken);
    return data[name]!;
  }

  async runRefused(name: string, input: Variables, authToken?: string): Promise<string> {
    return this.refusal(mutation(name, '__typename'), { input }, authToken);
  }

  async createUser(given: Partial<Person> & { isAdministrator?: boolean } = {}): Promise<Person> {
    const number = ++this.#people;
    const { username = `person ${number}`, password = `walnut cabin ${number}` } = given;
    const input = { username, password, isAdministrator: given.isAdministrator ?? false };
    const { user } = await this.run<{ user: { id: string } }>('createUser', input, 'user{id}');
    return { id: user.id, username, password };
  }

  async createGroup(name: string): Promise<string> {
    return (await this.run<{ group: { id: string } }>('createGroup', { name }, 'group{id}')).group.id;
  }

  async logIn({ username, password }: Person): Promise<LoginResponse> {
    return this.bed.logIn({ username, password });
  }

  /** What becomes of a token pair: the status of a query, of a refresh, and of a login. */
  async statuses(
    person: Person,
    pair: LoginResponse,
  ): Promise<{ graph: number; refresh: number; login: number }> {
    return {
      graph: (await this.bed.query('{__typename}', pair.authToken)).status,
      refresh: (await this.bed.refresh(pair)).status,
      login: (await this.bed.post('/login', { username: person.username, password: person.password })).status,
    };
  }
}

function mutation(name: string, selection: string): string {
  const inputType = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
  return `mutation($input: ${inputType}!){${name}(input: $input){${selection}}}`;
}
