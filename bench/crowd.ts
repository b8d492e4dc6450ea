/**
 * Runs as a child process: many clients, a socket and a subscription each. Sends the change itself, so that all times
 * are of one clock, and counts what every single one gets.
 */

import { answerParent } from './parent.ts';
import { Subscriber, type Change } from './subscriber.ts';

export interface OpenInput {
  readonly url: string;
  /** One for each socket. */
  readonly members: readonly { readonly authToken: string; readonly under: string | null }[];
  /** The cursor after which they follow. */
  readonly after: string;
}

export interface RoundInput {
  readonly url: string;
  readonly authToken: string;
  readonly parentId: string;
  /** Of the folder that is made, and that everybody hears of. */
  readonly name: string;
}

/** In milliseconds since the change was sent. */
export interface Round {
  readonly answeredMs: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface Tally {
  readonly none: number;
  readonly one: number;
  readonly more: number;
  /** Frames of no or another change, in any round so far. */
  readonly strays: number;
  readonly closed: number;
}

const openedAtOnce = 100;
const patienceMs = 60_000;
const mutation = 'mutation($input: CreateFolderInput!){createFolder(input: $input){folder{id} cursor}}';

const crowd: Subscriber[] = [];
let strays = 0;
let receive: (subscriber: Subscriber, change: Change | undefined) => void = () => strays++;
let giveUp: () => void = () => undefined;

answerParent(
  {
    async open({ url, members, after }: OpenInput): Promise<void> {
      const waiting = [...members];
      const joinAll = async () => {
        for (let next = waiting.pop(); next; next = waiting.pop()) {
          const { authToken, under } = next;
          const options = {
            url,
            authToken,
            variables: { after, under },
            onChange: (subscriber: Subscriber, change: Change | undefined) => receive(subscriber, change),
            onClose: () => giveUp(),
          };
          crowd.push(await Subscriber.join(options));
        }
      };
      await Promise.all(Array.from({ length: openedAtOnce }, joinAll));
    },

    async round({ name, ...input }: RoundInput): Promise<Round> {
      for (const subscriber of crowd) subscriber.received = 0;
      const everybody = Promise.withResolvers<void>();
      // Who is gone, or was told something else or nothing, is found by the tally.
      giveUp = everybody.resolve;
      let [waitedFor, firstMs, lastMs] = [crowd.length, NaN, NaN];
      const start = performance.now();
      receive = (subscriber, change) => {
        if (change?.kind !== 'CREATE' || change.folder?.name !== name) {
          strays++;
          return giveUp();
        }
        if (++subscriber.received > 1) return;
        lastMs = performance.now() - start;
        if (waitedFor === crowd.length) firstMs = lastMs;
        if (--waitedFor === 0) everybody.resolve();
      };
      await createFolder({ name, ...input });
      const answeredMs = performance.now() - start;
      const deadline = setTimeout(giveUp, patienceMs);
      await everybody.promise;
      clearTimeout(deadline);
      return { answeredMs, firstMs, lastMs };
    },

    /** After a sign of life of each: what was on its way by then is counted, and what comes later is a stray. */
    async tally(): Promise<Tally> {
      await Promise.allSettled(crowd.map((subscriber) => subscriber.ping()));
      const count = (isSo: (received: number) => boolean) =>
        crowd.filter(({ received }) => isSo(received)).length;
      return {
        none: count((received) => received === 0),
        one: count((received) => received === 1),
        more: count((received) => received > 1),
        strays,
        closed: crowd.filter(({ isOpen }) => !isOpen).length,
      };
    },

    async close(): Promise<void> {
      await Promise.all(crowd.splice(0).map((subscriber) => subscriber.leave()));
    },
  },
  () => undefined,
);

async function createFolder({ url, authToken, parentId, name }: RoundInput): Promise<void> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${authToken}` },
    body: JSON.stringify({ query: mutation, variables: { input: { parentId, name } } }),
  });
  const { errors } = (await response.json()) as { errors?: unknown };
  if (errors) throw new Error(JSON.stringify(errors));
}
