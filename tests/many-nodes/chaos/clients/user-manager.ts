/** Creates, disables and enables users. Disabled users cannot log in, and their sessions stay ended. */

import type { Credentials } from '../../../support/api-client.ts';
import { mutation, type Variables } from '../../../support/graph-testbed.ts';
import type { Account, ChaosClient } from './chaos-client.ts';
import { logIn, refresh, type Tokens } from './refresher.ts';

interface Person {
  readonly id: string;
  readonly credentials: Credentials;
  isDisabled: boolean;
  /** Tokens of sessions that ended when the user was disabled. */
  readonly endedTokens: Tokens[];
  /** Tokens of the current session. */
  tokens: Tokens | undefined;
}

const maxPeople = 6;
const pauseMs = 300;

export class UserManager {
  readonly #client: ChaosClient;
  readonly #account: Account;
  readonly #people: Person[] = [];

  constructor(client: ChaosClient, account: Account) {
    this.#client = client;
    this.#account = account;
  }

  async run(): Promise<void> {
    const { random } = this.#client;
    while (!this.#client.isOver) {
      const count = this.#people.length;
      const person = random.pick(this.#people);
      if (count === 0 || (count < maxPeople && random.chance(0.3))) await this.#createUser();
      else if (person.isDisabled) await this.#enable(person);
      else await this.#disable(person);
      await this.#client.pause(pauseMs);
    }
  }

  async check(): Promise<void> {
    for (const person of this.#people) {
      for (const tokens of person.endedTokens) await this.#assertEnded(tokens);
      await this.#checkLogin(person);
      const { tokens } = person;
      if (!tokens) continue;
      const { kind } = await this.#client.retryUntilKnown(() => refresh(this.#client, tokens));
      if (kind !== 'done') this.#client.reportViolation('a session ended unexpectedly');
    }
  }

  /**
   * Also accepts a refusal: if a response was lost, the server refuses the retry because the name is taken.
   */
  async #createUser(): Promise<void> {
    const username = `${this.#client.name} ${this.#people.length + 1}`;
    const credentials = { username, password: `walnut cabin ${username}` };
    await this.#client.retryUntilKnown(() => this.#send('createUser', credentials));
    const { user } = await this.#client.query<{ user: { id: string } }>(
      'query($username: String){user(username: $username){id}}',
      { username },
      this.#account.authToken,
    );
    const tokens = await logIn(this.#client, credentials);
    this.#people.push({ id: user.id, credentials, isDisabled: false, endedTokens: [], tokens });
  }

  async #disable(person: Person): Promise<void> {
    await this.#client.retryUntilDone(() => this.#send('updateUser', { id: person.id, isDisabled: true }));
    this.#client.world.tally.count('people disabled');
    person.isDisabled = true;
    if (person.tokens) person.endedTokens.push(person.tokens);
    person.tokens = undefined;
    await this.#checkLogin(person);
    await this.#assertEnded(person.endedTokens.at(-1)!);
  }

  async #enable(person: Person): Promise<void> {
    await this.#client.retryUntilDone(() => this.#send('updateUser', { id: person.id, isDisabled: false }));
    person.isDisabled = false;
    person.tokens = await logIn(this.#client, person.credentials);
  }

  async #checkLogin({ credentials, isDisabled }: Person): Promise<void> {
    const { kind } = await this.#client.retryUntilKnown(() => this.#client.post('/login', credentials));
    if (kind !== (isDisabled ? 'refused' : 'done')) {
      this.#client.reportViolation(`a login of ${isDisabled ? 'a disabled' : 'an enabled'} user was ${kind}`);
    }
  }

  async #assertEnded(tokens: Tokens): Promise<void> {
    const { kind } = await this.#client.retryUntilKnown(() => refresh(this.#client, tokens));
    if (kind !== 'refused') this.#client.reportViolation('a session of a disabled user continues');
    this.#client.world.tally.count('sessions of disabled people tried again');
  }

  #send(name: string, input: Variables) {
    const { authToken } = this.#account;
    return this.#client.graph(mutation(name, '__typename'), { input }, { authToken });
  }
}
