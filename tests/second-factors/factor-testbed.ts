/** A test server with users who set up second factors. */

import assert from 'node:assert/strict';
import type { EnrolledLoginResponse, EnrolmentResponse, LoginResponse, Problem } from '@espalier/contract';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import type { DatabaseKind } from '../support/databases.ts';
import { Testbed, type TestbedOptions, type TestResponse } from '../support/testbed.ts';
import { codeAt, decodeBase32 } from './authenticator-app.ts';
import {
  SoftwareAuthenticator,
  type CreationOptions,
  type RequestOptions,
} from './software-authenticator.ts';

export const origin = 'https://tree.example.com';

/** A user with an authenticator app, and with recovery codes if it is the first factor. */
export interface AppUser extends Person {
  readonly secret: Uint8Array;
  readonly recoveryCodes: readonly string[];
}

interface Confirmed {
  readonly recoveryCodes: readonly string[] | null;
  readonly endedSessions: number;
}

export interface PasskeyChallenge<Options> {
  readonly challengeId: string;
  readonly options: Options;
}

const common = { PUBLIC_URL: `${origin}/`, TRUST_PROXY: 'true', AUTH_TOKEN_SECONDS: '86400' };

export class FactorTestbed extends PeopleTestbed {
  static override async start(kind: DatabaseKind, options: TestbedOptions = {}): Promise<FactorTestbed> {
    const settings = { ...common, ...options.settings };
    const server = await Testbed.start(kind, { ...options, settings });
    return new FactorTestbed(server, (await server.logIn()).authToken);
  }

  /** Starts another node on the same database, with the session of the administrator. */
  async startNode(
    kind: DatabaseKind,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<FactorTestbed> {
    const { database, clock } = this.server;
    const server = await Testbed.start(kind, { database, clock, settings: { ...common, ...settings } });
    return new FactorTestbed(server, this.authToken);
  }

  /** Sends a login from an address. */
  attempt(
    { username, password }: Pick<Person, 'username' | 'password'>,
    code?: unknown,
    address = '192.0.2.1',
    server = this.server,
  ): Promise<TestResponse> {
    return server.postRaw('/login', JSON.stringify({ username, password, code }), {
      'content-type': 'application/json',
      'x-forwarded-for': address,
    });
  }

  /** The code of a login's problem, or its status. */
  async outcome(...input: Parameters<FactorTestbed['attempt']>): Promise<string> {
    const response = await this.attempt(...input);
    return response.status === 200 ? 'SUCCESS' : response.json<Problem>().code;
  }

  code({ secret }: Pick<AppUser, 'secret'>, offsetSeconds = 0): string {
    return codeAt(secret, this.server.clock.now() + 1000 * offsetSeconds);
  }

  /** Waits, on the clock of the test, until the app shows the next code. */
  nextCode(user: Pick<AppUser, 'secret'>): string {
    this.server.clock.advanceSeconds(30);
    return this.code(user);
  }

  /** Creates a user and sets up an authenticator app in a session. */
  async createAppUser(options?: Parameters<PeopleTestbed['createUser']>[0]): Promise<AppUser> {
    const user = await this.createUser(options);
    return { ...user, ...(await this.enrolApp(user)) };
  }

  async enrolApp(person: Person): Promise<Pick<AppUser, 'secret' | 'recoveryCodes'>> {
    const { authToken } = await this.logIn(person);
    const { password } = person;
    const { secret: text } = await this.mutate<{ secret: string }>(
      'startTotpEnrolment',
      { proof: { password } },
      'secret uri expiresAt',
      authToken,
    );
    const secret = decodeBase32(text);
    const { recoveryCodes } = await this.confirmApp(secret, authToken);
    return { secret, recoveryCodes: recoveryCodes ?? [] };
  }

  confirmApp(secret: Uint8Array, authToken: string): Promise<Confirmed> {
    const input = { code: this.code({ secret }) };
    return this.mutate<Confirmed>('confirmTotpEnrolment', input, 'recoveryCodes endedSessions', authToken);
  }

  /** Logs in with the next code. */
  async logInWithCode(user: AppUser): Promise<LoginResponse> {
    const response = await this.attempt(user, this.nextCode(user));
    assert.equal(response.status, 200, response.text);
    return response.json<LoginResponse>();
  }

  startEnrolment(enrolmentToken: string): Promise<TestResponse> {
    return this.server.post('/login/enrolment', { enrolmentToken });
  }

  confirmEnrolment(enrolmentToken: string, code: string): Promise<TestResponse> {
    return this.server.post('/login/enrolment/confirm', { enrolmentToken, code });
  }

  /** Sets up an app at the login. */
  async enrolAtLogin(person: Person): Promise<{ secret: Uint8Array; login: EnrolledLoginResponse }> {
    const { enrolmentToken } = (await this.attempt(person)).json<Problem>();
    const started = (await this.startEnrolment(enrolmentToken!)).json<EnrolmentResponse>();
    const secret = decodeBase32(started.secret);
    const response = await this.confirmEnrolment(enrolmentToken!, this.code({ secret }));
    assert.equal(response.status, 200, response.text);
    return { secret, login: response.json<EnrolledLoginResponse>() };
  }

  async startPasskey(
    authToken: string,
    proof: Record<string, unknown>,
  ): Promise<PasskeyChallenge<CreationOptions>> {
    return this.mutate('startPasskeyEnrolment', { proof }, 'challengeId options', authToken);
  }

  async addPasskey(
    authToken: string,
    proof: Record<string, unknown>,
    authenticator = new SoftwareAuthenticator(origin),
  ): Promise<{ authenticator: SoftwareAuthenticator; id: string } & Confirmed> {
    const { challengeId, options } = await this.startPasskey(authToken, proof);
    const input = { challengeId, response: authenticator.create(options), name: 'Phone' };
    const selection = 'passkey{id} recoveryCodes endedSessions';
    type Finished = Confirmed & { passkey: { id: string } };
    const finished = await this.mutate<Finished>('finishPasskeyEnrolment', input, selection, authToken);
    return { ...finished, id: finished.passkey.id, authenticator };
  }

  async challenge(server = this.server): Promise<PasskeyChallenge<RequestOptions>> {
    const response = await server.post('/login/passkey/options', {});
    assert.equal(response.status, 200, response.text);
    return response.json();
  }

  logInWithPasskey(challengeId: string, response: unknown, address = '192.0.2.1'): Promise<TestResponse> {
    return this.server.postRaw('/login/passkey', JSON.stringify({ challengeId, response }), {
      'content-type': 'application/json',
      'x-forwarded-for': address,
    });
  }
}
