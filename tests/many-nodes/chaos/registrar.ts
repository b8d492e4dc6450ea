/** Takes people in, disables them and lets them in again: who is disabled stays out, and their sessions stay ended. */

import type { Credentials } from '../../api-client.ts';
import { mutation, type Variables } from '../../graph-bed.ts';
import type { Account, ChaosClient } from './chaos-client.ts';
import { logIn, refresh, type Pair } from './refresher.ts';

interface Person {
  readonly id: string;
  readonly credentials: Credentials;
  isDisabled: boolean;
  /** Of sessions that ended when they were disabled. */
  readonly ended: Pair[];
  /** Of the session that goes on. */
  pair: Pair | undefined;
}

const mostPeople = 6;
const pauseMs = 300;

export class Registrar {
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
      if (count === 0 || (count < mostPeople && random.chance(0.3))) await this.#takeIn();
      else if (person.isDisabled) await this.#letIn(person);
      else await this.#disable(person);
      await this.#client.pause(pauseMs);
    }
  }

  async check(): Promise<void> {
    for (const person of this.#people) {
      for (const pair of person.ended) await this.#isOver(pair);
      await this.#tryDoor(person);
      const { pair } = person;
      if (!pair) continue;
      const { kind } = await this.#client.insist(() => refresh(this.#client, pair));
      if (kind !== 'done') this.#client.violation('a session is over that nobody has ended');
    }
  }

  /** If the answer was lost, the next one says that the name is taken. */
  async #takeIn(): Promise<void> {
    const username = `${this.#client.name} ${this.#people.length + 1}`;
    const credentials = { username, password: `walnut cabin ${username}` };
    await this.#client.insist(() => this.#send('createUser', credentials));
    const { user } = await this.#client.ask<{ user: { id: string } }>(
      'query($username: String){user(username: $username){id}}',
      { username },
      this.#account.authToken,
    );
    const pair = await logIn(this.#client, credentials);
    this.#people.push({ id: user.id, credentials, isDisabled: false, ended: [], pair });
  }

  async #disable(person: Person): Promise<void> {
    await this.#client.insistOn(() => this.#send('updateUser', { id: person.id, isDisabled: true }));
    this.#client.world.tally.count('people disabled');
    person.isDisabled = true;
    if (person.pair) person.ended.push(person.pair);
    person.pair = undefined;
    await this.#tryDoor(person);
    await this.#isOver(person.ended.at(-1)!);
  }

  async #letIn(person: Person): Promise<void> {
    await this.#client.insistOn(() => this.#send('updateUser', { id: person.id, isDisabled: false }));
    person.isDisabled = false;
    person.pair = await logIn(this.#client, person.credentials);
  }

  async #tryDoor({ credentials, isDisabled }: Person): Promise<void> {
    const { kind } = await this.#client.insist(() => this.#client.post('/login', credentials));
    if (kind !== (isDisabled ? 'refused' : 'done')) {
      this.#client.violation(`a login of somebody ${isDisabled ? '' : 'not '}disabled was ${kind}`);
    }
  }

  async #isOver(pair: Pair): Promise<void> {
    const { kind } = await this.#client.insist(() => refresh(this.#client, pair));
    if (kind !== 'refused') this.#client.violation('a session of somebody disabled goes on');
    this.#client.world.tally.count('sessions of disabled people tried again');
  }

  #send(name: string, input: Variables) {
    const { authToken } = this.#account;
    return this.#client.graph(mutation(name, '__typename'), { input }, { authToken });
  }
}
