/** A user of the concurrent run, on one persistent connection to one node. */

import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { readNumber } from './history.ts';

export interface GraphResponse<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

/** Refusals that concurrent actors can cause for each other. Any other error fails the run. */
const expectedCodes = ['NOT_FOUND', 'FORBIDDEN', 'CONFLICT', 'CYCLE'];
/** Actors also select the root, which some mutations refuse. */
const rootRefusal = /^The root cannot be/;

export class Actor {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;
  readonly #authToken: string;

  constructor(url: string, authToken: string) {
    this.#url = url;
    this.#authToken = authToken;
  }

  /** Returns undefined if the request was refused. */
  async query<Data>(query: string, variables: object = {}): Promise<Data | undefined> {
    const { data, errors } = JSON.parse(await this.#post({ query, variables })) as GraphResponse<Data>;
    for (const { message, extensions } of errors ?? []) {
      const isExpected = expectedCodes.includes(extensions.code) || rootRefusal.test(message);
      assert.ok(isExpected, `${extensions.code} ${message} for ${query}`);
    }
    return errors ? undefined : data!;
  }

  /** Returns the number of the last journal entry. */
  async head(): Promise<number> {
    return readNumber((await this.query<{ cursor: string }>('{cursor}'))!.cursor);
  }

  close(): void {
    this.#agent.destroy();
  }

  #post(body: object): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${this.#authToken}`, 'content-type': 'application/json' };
      const sent = request(
        `${this.#url}/graphql`,
        { method: 'POST', agent: this.#agent, headers },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('end', () => resolve(Buffer.concat(parts).toString()));
          response.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
  }
}
