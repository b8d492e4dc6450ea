/** Manages groups and grants, and checks what guests see. No other client changes groups or grants. */

import { mutation } from '../../../support/graph-testbed.ts';
import type { Account, ChaosClient, Outcome } from './chaos-client.ts';
import { adopt, chooseChange, differenceOf, levelOf, type Change, type People } from '../people-model.ts';

export interface Guest extends Account {
  readonly name: string;
}

interface ReadPeople {
  readonly groups: { readonly items: readonly ReadGroup[] };
  readonly folder: { readonly folders: { readonly items: readonly ReadShelf[] } };
}
interface ReadGroup {
  readonly id: string;
  readonly name: string;
  readonly members: { readonly items: readonly { readonly id: string }[] };
}
interface ReadShelf {
  readonly id: string;
  readonly access: {
    readonly items: readonly {
      readonly level: string;
      readonly user: { readonly id: string } | null;
      readonly group: { readonly id: string } | null;
    }[];
  };
}

const checkShare = 0.5;
const readPeople = `query($id: ID!){groups(first: 1000){items{id name members{items{id}}}}
  folder(id: $id){folders{items{id access{items{level user{id} group{id}}}}}}}`;

export class AccessManager {
  readonly account: Account;
  readonly #client: ChaosClient;
  readonly #guests: readonly Guest[];
  readonly #topId: string;
  readonly #shelfIds: readonly string[];
  #people: People = { groups: new Map(), grants: new Map() };
  #made = 0;

  constructor(
    client: ChaosClient,
    parts: { account: Account; guests: readonly Guest[]; topId: string; shelfIds: readonly string[] },
  ) {
    this.#client = client;
    this.account = parts.account;
    this.#guests = parts.guests;
    this.#topId = parts.topId;
    this.#shelfIds = parts.shelfIds;
  }

  get people(): People {
    return this.#people;
  }

  async run(): Promise<void> {
    while (!this.#client.isOver) {
      await this.#change();
      if (this.#client.random.chance(checkShare)) await this.#checkAsGuest();
      await this.#client.pause();
    }
  }

  /** Checks groups and grants at the node with this URL, or at a random node if there is no URL. */
  async check(url?: string): Promise<void> {
    const difference = differenceOf(this.#people, await this.#read(url));
    if (difference)
      this.#client.violation(`groups and grants differ from the acknowledged changes: ${difference}`);
  }

  async #change(): Promise<void> {
    const { tally } = this.#client.world;
    const change = chooseChange(this.#people, {
      random: this.#client.random,
      name: this.#fresh(),
      shelfIds: this.#shelfIds,
      guestIds: this.#guests.map(({ userId }) => userId),
    });
    const outcome = await this.#send(change);
    if (outcome.kind === 'refused') {
      this.#client.violation(
        `${change.name} ${JSON.stringify(change.input)} was refused: ${outcome.message}`,
      );
    } else if (outcome.kind === 'done') {
      tally.count('changes of people acknowledged');
      this.#people = adopt(change.after, await this.#read());
      await this.check();
    } else {
      await this.#find(change);
    }
  }

  async #find(change: Change): Promise<void> {
    const { tally } = this.#client.world;
    tally.count('changes of people not acknowledged');
    // A later successful change proves that this one has ended.
    await this.#client.retryUntilDone(() =>
      this.#send({
        name: 'updateFolder',
        input: { id: this.#topId, title: this.#fresh() },
        after: this.#people,
      }),
    );
    const read = await this.#read();
    const after = adopt(change.after, read);
    const difference = differenceOf(after, read);
    if (!difference) {
      tally.count('changes of people not acknowledged, but done');
      this.#people = after;
      return;
    }
    const other = differenceOf(this.#people, read);
    if (other) this.#client.violation(`${change.name} is half done: ${difference}, ${other}`);
  }

  /**
   * Checks a guest at a random node, because an acknowledged grant or revocation takes effect immediately at
   * every node.
   */
  async #checkAsGuest(): Promise<void> {
    const { random } = this.#client;
    const guest = random.pick(this.#guests);
    const id = random.pick(this.#shelfIds);
    const { folder } = await this.#client.query<{ folder: { accessLevel: string } | null }>(
      'query($id: ID!){folder(id: $id){accessLevel}}',
      { id },
      guest.authToken,
    );
    const expected = levelOf(this.#people, guest.userId, id);
    const seen = folder?.accessLevel;
    if (seen !== expected) this.#client.violation(`${guest.name} has ${seen} instead of ${expected}`);
    this.#client.world.tally.count('checks as guest');
  }

  #send({ name, input }: Change): Promise<Outcome<unknown>> {
    const { authToken } = this.account;
    return this.#client.graph(mutation(name, '__typename'), { input }, { authToken });
  }

  async #read(url?: string): Promise<People> {
    const { groups, folder } = await this.#client.query<ReadPeople>(
      readPeople,
      { id: this.#topId },
      this.account.authToken,
      url,
    );
    const grants = folder.folders.items.flatMap(({ id, access }) =>
      access.items.map(({ level, user, group }) => [`${id} ${(user ?? group)!.id}`, level] as const),
    );
    return {
      groups: new Map(
        groups.items.map(({ id, name, members }) => [
          id,
          { name, members: members.items.map((member) => member.id).sort() },
        ]),
      ),
      grants: new Map(grants),
    };
  }

  #fresh(): string {
    return `${this.#client.name} ${++this.#made}`;
  }
}
