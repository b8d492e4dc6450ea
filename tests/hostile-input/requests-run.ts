/**
 * Sends hostile requests to a new server, many at a time, and regularly checks that everything still works.
 */

import type { DatabaseKind } from '../support/databases.ts';
import { shrinkFailure, type Failure as AnyFailure, type ShrinkOptions } from '../fuzz/shrink.ts';
import { administrator, Testbed } from '../support/testbed.ts';
import { HostileConnections } from './hostile-connection.ts';
import type { HostileRequest, Materials } from './hostile-request.ts';
import { hostileRequests } from './hostile-requests.ts';
import { BadResponseError, checkResponses } from './check-responses.ts';
import { Target } from './target.ts';

type Failure = AnyFailure<HostileRequest>;

export interface RunResult {
  readonly steps: number;
  readonly responses: number;
  readonly failure?: Failure;
}

const concurrency = 32;
const requestsPerCheck = 480;
const errorLevel = 50;

export function generateRequests(seed: number, count: number): HostileRequest[] {
  const requests = hostileRequests(seed);
  return Array.from({ length: count }, () => requests.next().value);
}

export async function runRequests(
  kind: DatabaseKind,
  requests: readonly HostileRequest[],
  isOver: () => boolean = () => false,
): Promise<RunResult> {
  // Other tests cover the login throttle. Here, its 429 responses would hide others.
  const testbed = await Testbed.start(kind, { settings: { LOGIN_THROTTLE: 'off' } });
  const faults: unknown[] = [];
  const onFault = (error: unknown) => void faults.push(error);
  process.on('unhandledRejection', onFault).on('uncaughtException', onFault);
  const run = new RequestsRun(testbed, faults);
  try {
    return await run.run(requests, isOver);
  } finally {
    process.off('unhandledRejection', onFault).off('uncaughtException', onFault);
    await testbed.stop();
  }
}

class RequestsRun {
  readonly #testbed: Testbed;
  readonly #target: Target;
  readonly #connections: HostileConnections;
  readonly #faults: readonly unknown[];
  readonly #sentRequests: HostileRequest[] = [];
  #materials: Materials = {};
  #responses = 0;
  #readLines = 0;

  constructor(testbed: Testbed, faults: readonly unknown[]) {
    this.#testbed = testbed;
    this.#faults = faults;
    this.#target = new Target(testbed.url, administrator);
    this.#connections = new HostileConnections(testbed.url);
  }

  async run(requests: readonly HostileRequest[], isOver: () => boolean): Promise<RunResult> {
    const result = () => ({ steps: this.#sentRequests.length, responses: this.#responses });
    try {
      for (let start = 0; start < requests.length && !isOver(); start += requestsPerCheck) {
        this.#materials = await this.#target.prepareMaterials();
        await this.#sendAll(requests.slice(start, start + requestsPerCheck));
        await this.#target.checkAllWorks();
        this.#checkServer();
      }
      await this.#target.checkTree();
      return result();
    } catch (error) {
      return { ...result(), failure: { operations: this.#sentRequests, error: error as Error } };
    } finally {
      this.#connections.close();
    }
  }

  async #sendAll(requests: readonly HostileRequest[]): Promise<void> {
    const queuedRequests = [...requests];
    let fault: { readonly request: HostileRequest; readonly error: Error } | undefined;
    const sendSome = async () => {
      for (let request = queuedRequests.shift(); request && !fault; request = queuedRequests.shift()) {
        const error = await this.#send(request);
        if (error) fault ??= { request, error };
      }
    };
    await Promise.all(Array.from({ length: concurrency }, sendSome));
    // The failing request comes last, because shrinking keeps the last one.
    this.#sentRequests.push(
      ...requests.filter((each) => each !== fault?.request && !queuedRequests.includes(each)),
    );
    if (!fault) return;
    this.#sentRequests.push(fault.request);
    throw fault.error;
  }

  async #send(request: HostileRequest): Promise<Error | undefined> {
    try {
      const responses = await this.#connections.send(request, this.#materials);
      this.#responses += responses.length;
      checkResponses(responses, this.#materials);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  /** Checks the log and the unhandled errors of the server. */
  #checkServer(): void {
    if (this.#faults.length > 0) throw this.#faults[0] as Error;
    const lines = this.#testbed.logLines.slice(this.#readLines);
    this.#readLines += lines.length;
    const { AT, RT, READERAT, PASSWORD } = this.#materials;
    for (const line of lines) {
      if ((JSON.parse(line) as { level: number }).level >= errorLevel)
        throw new BadResponseError(`The server logged an error: ${line}`);
      if ([AT, RT, READERAT, PASSWORD].some((secret) => line.includes(secret!))) {
        throw new BadResponseError(`The log contains a secret: ${line}`);
      }
    }
  }
}

/** Removes requests as long as the rest still fails, perhaps with another error. */
export function shrink(
  kind: DatabaseKind,
  failure: Failure,
  shrinking: ShrinkOptions<HostileRequest>,
): Promise<Failure> {
  const run = async (requests: readonly HostileRequest[]) => (await runRequests(kind, requests)).failure;
  return shrinkFailure(failure, { first: failure.operations.slice(-1), run, keepsLast: true }, shrinking);
}

export function describeFailure({ operations: sent, error }: Failure): string {
  const cause = error instanceof BadResponseError ? error.message : error.stack;
  return `request ${sent.length}, ${JSON.stringify(sent.at(-1)).slice(0, 4_000)}\n${cause}`;
}
