/** A run: a new server, and hostile requests, many at a time; from time to time everything must work as it should. */

import type { DatabaseKind } from '../support/databases.ts';
import { shrinkFailure, type Failure as AnyFailure, type ShrinkOptions } from '../fuzz/shrink.ts';
import { administrator, Testbed } from '../support/testbed.ts';
import { HostileConnections } from './hostile-connection.ts';
import type { HostileRequest, Materials } from './hostile-request.ts';
import { hostileRequests } from './hostile-requests.ts';
import { BadAnswer, judge } from './judge.ts';
import { Target } from './target.ts';

type Failure = AnyFailure<HostileRequest>;

export interface RunResult {
  readonly steps: number;
  readonly answers: number;
  readonly failure?: Failure;
}

const atATime = 32;
const betweenChecks = 480;
const level = { error: 50 };

export function requestsOf(seed: number, count: number): HostileRequest[] {
  const requests = hostileRequests(seed);
  return Array.from({ length: count }, () => requests.next().value);
}

export async function runRequests(
  kind: DatabaseKind,
  given: readonly HostileRequest[],
  isOver: () => boolean = () => false,
): Promise<RunResult> {
  // How failed logins are slowed down has tests of its own: here it would hide the rest behind 429.
  const bed = await Testbed.start(kind, { settings: { LOGIN_THROTTLE: 'off' } });
  const faults: unknown[] = [];
  const onFault = (error: unknown) => void faults.push(error);
  process.on('unhandledRejection', onFault).on('uncaughtException', onFault);
  const run = new RequestsRun(bed, faults);
  try {
    return await run.run(given, isOver);
  } finally {
    process.off('unhandledRejection', onFault).off('uncaughtException', onFault);
    await bed.stop();
  }
}

class RequestsRun {
  readonly #bed: Testbed;
  readonly #target: Target;
  readonly #connections: HostileConnections;
  readonly #faults: readonly unknown[];
  readonly #tried: HostileRequest[] = [];
  #materials: Materials = {};
  #answers = 0;
  #readLines = 0;

  constructor(bed: Testbed, faults: readonly unknown[]) {
    this.#bed = bed;
    this.#faults = faults;
    this.#target = new Target(bed.url, administrator);
    this.#connections = new HostileConnections(bed.url);
  }

  async run(given: readonly HostileRequest[], isOver: () => boolean): Promise<RunResult> {
    const result = () => ({ steps: this.#tried.length, answers: this.#answers });
    try {
      for (let start = 0; start < given.length && !isOver(); start += betweenChecks) {
        this.#materials = await this.#target.materials();
        await this.#sendAll(given.slice(start, start + betweenChecks));
        await this.#target.checkAllWorks();
        this.#checkServer();
      }
      await this.#target.checkTree();
      return result();
    } catch (error) {
      return { ...result(), failure: { operations: this.#tried, error: error as Error } };
    } finally {
      this.#connections.close();
    }
  }

  async #sendAll(requests: readonly HostileRequest[]): Promise<void> {
    const waiting = [...requests];
    let fault: { readonly request: HostileRequest; readonly error: Error } | undefined;
    const sendSome = async () => {
      for (let request = waiting.shift(); request && !fault; request = waiting.shift()) {
        const error = await this.#send(request);
        if (error) fault ??= { request, error };
      }
    };
    await Promise.all(Array.from({ length: atATime }, sendSome));
    // Whichever fails stands last: it is the one that is kept when others are left out.
    this.#tried.push(...requests.filter((each) => each !== fault?.request && !waiting.includes(each)));
    if (!fault) return;
    this.#tried.push(fault.request);
    throw fault.error;
  }

  async #send(request: HostileRequest): Promise<Error | undefined> {
    try {
      const answers = await this.#connections.send(request, this.#materials);
      this.#answers += answers.length;
      judge(answers, this.#materials);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  /** What the server says of itself. */
  #checkServer(): void {
    if (this.#faults.length > 0) throw this.#faults[0] as Error;
    const lines = this.#bed.logLines.slice(this.#readLines);
    this.#readLines += lines.length;
    const { AT, RT, READERAT, PASSWORD } = this.#materials;
    for (const line of lines) {
      if ((JSON.parse(line) as { level: number }).level >= level.error)
        throw new BadAnswer(`It logged ${line}`);
      if ([AT, RT, READERAT, PASSWORD].some((secret) => line.includes(secret!))) {
        throw new BadAnswer(`There is a secret in the log: ${line}`);
      }
    }
  }
}

/** Leaves out requests as long as what remains still fails, perhaps in another way. */
export function shrink(
  kind: DatabaseKind,
  given: Failure,
  shrinking: ShrinkOptions<HostileRequest>,
): Promise<Failure> {
  const run = async (requests: readonly HostileRequest[]) => (await runRequests(kind, requests)).failure;
  return shrinkFailure(given, { first: given.operations.slice(-1), run, keepsLast: true }, shrinking);
}

export function describeFailure({ operations: tried, error }: Failure): string {
  const cause = error instanceof BadAnswer ? error.message : error.stack;
  return `request ${tried.length}, ${JSON.stringify(tried.at(-1)).slice(0, 4_000)}\n${cause}`;
}
