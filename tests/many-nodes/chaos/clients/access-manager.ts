/** Manages groups and grants, and checks which folders guests can see. No other client changes groups or grants. */

import { mutation } from '../../../support/graph-testbed.ts';
import type { Account, ChaosClient, Outcome } from './chaos-client.ts';
import {
  withGroupId,
  chooseChange,
  differenceOf,
  levelOf,
  type Change,
  type People,
} from '../people-model.ts';

export interface Guest extends Account {
  readonly name: string;
}

interface PeopleResponse {
  readonly groups: { readonly items: readonly GroupItem[] };
  readonly folder: { readonly folders: { readonly items: readonly ShelfItem[] } };
}
interface GroupItem {
  readonly id: string;
  readonly name: string;
  readonly members: { readonly items: readonly { readonly id: string }[] };
}
interface ShelfItem {
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
const peopleQuery = `query($id: ID!){groups(first: 1000){items{id name members{items{id}}}}
  folder(id: $id){folders{items{id access{items{level user{id} group{id}}}}}}}`;

export class AccessManager {
  readonly account: Account;
  readonly #client: ChaosClient;
  readonly #guests: readonly Guest[];
  readonly #topId: string;
  readonly #shelfIds: readonly string[];
  #people: People = { groups: new Map(), grants: new Map() };
  #nameCount = 0;

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
      this.#client.reportViolation(`groups and grants differ from the acknowledged changes: ${difference}`);
  }

  async #change(): Promise<void> {
    const { tally } = this.#client.world;
    const change = chooseChange(this.#people, {
      random: this.#client.random,
      name: this.#uniqueName(),
      shelfIds: this.#shelfIds,
      guestIds: this.#guests.map(({ userId }) => userId),
    });
    const outcome = await this.#send(change);
    if (outcome.kind === 'refused') {
      this.#client.reportViolation(
        `${change.name} ${JSON.stringify(change.input)} was refused: ${outcome.message}`,
      );
    } else if (outcome.kind === 'done') {
      tally.count('changes of people acknowledged');
      this.#people = withGroupId(change.after, await this.#read());
      await this.check();
    } else {
      await this.#findOutcome(change);
    }
  }

  async #findOutcome(change: Change): Promise<void> {
    const { tally } = this.#client.world;
    tally.count('changes of people not acknowledged');
    // A later successful change proves that this one has ended.
    await this.#client.retryUntilDone(() =>
      this.#send({
        name: 'updateFolder',
        input: { id: this.#topId, title: this.#uniqueName() },
        after: this.#people,
      }),
    );
    const actual = await this.#read();
    const after = withGroupId(change.after, actual);
    const difference = differenceOf(after, actual);
    if (!difference) {
      tally.count('changes of people not acknowledged, but done');
      this.#people = after;
      return;
    }
    const differenceBefore = differenceOf(this.#people, actual);
    if (differenceBefore)
      this.#client.reportViolation(`${change.name} is half done: ${difference}, ${differenceBefore}`);
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
    const actual = folder?.accessLevel;
    if (actual !== expected)
      this.#client.reportViolation(`${guest.name} has ${actual} instead of ${expected}`);
    this.#client.world.tally.count('checks as guest');
  }

  #send({ name, input }: Change): Promise<Outcome<unknown>> {
    const { authToken } = this.account;
    return this.#client.graph(mutation(name, '__typename'), { input }, { authToken });
  }

  async #read(url?: string): Promise<People> {
    const { groups, folder } = await this.#client.query<PeopleResponse>(
      peopleQuery,
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

  #uniqueName(): string {
    return `${this.#client.name} ${++this.#nameCount}`;
  }
}
