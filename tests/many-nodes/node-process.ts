/** A node: the program as operators run it, in a process of its own that ends with this one at the latest. */

import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../eventually.ts';
import { isTestProcess, keepLog, keepOutput, noteSettings } from '../secrets/secret-record.ts';

export interface NodeOptions {
  readonly databaseUrl: string;
  /** Another checkout of this repository whose program runs. */
  readonly checkout?: string;
  /** Settings by environment variable, without the prefix. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Kills it, if it does not serve yet. */
  readonly signal?: AbortSignal;
  /** A module that is loaded before the program. */
  readonly preload?: string;
  /** Options of Node itself, for example `--max-old-space-size=300`. */
  readonly nodeFlags?: readonly string[];
  /** Where its log goes; without it, this process reads it as it comes, which takes time from both. */
  readonly logFile?: string;
  /** The soft limit of the shell's `ulimit -f`: no file that it writes becomes larger. */
  readonly maxFileKilobytes?: number;
}

const thisCheckout = join(import.meta.dirname, '../..');
const endWithParent = join(import.meta.dirname, 'end-with-parent.ts');
/** What Node has made of the sources once: it halves the time of a start. */
const compileCache = join(import.meta.dirname, '../../node_modules/.cache/espalier-nodes');
const startWithinMs = 120_000;
const saysWithinMs = 60_000;
/** Beyond what any of them is given to stop, and what a busy machine adds to that. */
const stopWithinMs = 60_000;

/** The same for all nodes that this process starts, so that whichever is first makes it. */
export const administrator = { username: 'admin', password: `correct horse ${randomUUID()}` };
/** Without one, whoever starts on PostgreSQL is warned. */
const masterKey = randomBytes(32).toString('base64');

export class NodeProcess {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #logFile: string | undefined;
  #log = '';
  /** What it has printed. */
  output = '';
  #url = '';

  /** Does not wait until it serves. */
  static launch(options: NodeOptions): NodeProcess {
    return new NodeProcess(options);
  }

  /** Answers when it serves; one that does not is an error with what it said. */
  static async start(options: NodeOptions): Promise<NodeProcess> {
    const node = new NodeProcess(options);
    const kill = () => node.#process.kill('SIGKILL');
    const late = setTimeout(kill, startWithinMs);
    options.signal?.addEventListener('abort', kill);
    try {
      await node.#untilServing();
      return node;
    } finally {
      clearTimeout(late);
      options.signal?.removeEventListener('abort', kill);
    }
  }

  private constructor(options: NodeOptions) {
    const { databaseUrl, settings, preload, nodeFlags = [], logFile, maxFileKilobytes } = options;
    const program = join(options.checkout ?? thisCheckout, 'server/bin/espalier.js');
    const given = {
      PORT: '0',
      DATABASE_URL: databaseUrl,
      ADMIN_USERNAME: administrator.username,
      ADMIN_PASSWORD: administrator.password,
      MASTER_KEY: masterKey,
      LOG_LEVEL: isTestProcess ? 'trace' : 'warn',
      ...settings,
    };
    noteSettings(given);
    const environment = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [`ESPALIER_${name}`, value]),
    );
    const flags = ['--conditions=espalier-source', `--import=${endWithParent}`, ...nodeFlags];
    if (preload) flags.push(`--import=${preload}`);
    this.#logFile = logFile;
    const logDescriptor = logFile === undefined ? undefined : openSync(logFile, 'a');
    const command = [process.execPath, ...flags, program, 'serve'];
    const limited = ['bash', '-c', 'ulimit -S -f "$0" && exec "$@"', String(maxFileKilobytes), ...command];
    const [file, ...args] = maxFileKilobytes === undefined ? command : limited;
    this.#process = spawn(file!, args, {
      cwd: tmpdir(),
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: compileCache,
        ...environment,
      },
      stdio: ['ignore', 'pipe', logDescriptor ?? 'pipe', 'ipc'],
    });
    if (logDescriptor !== undefined) closeSync(logDescriptor);
    this.#ended = once(this.#process, 'close');
    this.#process.stdout!.on('data', (text: Buffer) => (this.output += text.toString()));
    this.#process.stderr?.on('data', (text: Buffer) => (this.#log += text.toString()));
    void this.#ended.then(() => {
      keepOutput(this.output);
      keepLog(this.#log);
    });
  }

  /** What it has logged. */
  get log(): string {
    return this.#logFile === undefined ? this.#log : readFileSync(this.#logFile, 'utf8');
  }

  get url(): string {
    return this.#url;
  }

  get pid(): number {
    return this.#process.pid!;
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** The exit code, once it has ended; null if a signal ended it. */
  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  /** Waits until it has ended, and kills it if it does not. */
  async ended(): Promise<void> {
    const late = setTimeout(() => this.#process.kill('SIGKILL'), stopWithinMs);
    await this.#ended;
    clearTimeout(late);
  }

  /** Waits until it has printed or logged something. */
  async says(text: string): Promise<void> {
    const isSaid = () => this.output.includes(text) || this.log.includes(text);
    await eventually(() => isSaid() || this.hasEnded, `it says: ${text}`, saysWithinMs);
    // What it said last may still be on its way.
    if (!isSaid()) await this.#ended;
    if (!isSaid()) throw new Error(`Never said: ${text}`);
  }

  /** Lets it do nothing for a while, as a machine that is overloaded or moved does. */
  async freeze(ms: number): Promise<void> {
    this.#process.kill('SIGSTOP');
    await sleep(ms);
    this.#process.kill('SIGCONT');
  }

  /** As a power failure does. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#ended;
  }

  /** Lets it finish what it does. Answers whether it ended by itself. */
  async stop(): Promise<boolean> {
    this.signal('SIGTERM');
    await this.ended();
    return this.#process.exitCode === 0;
  }

  async #untilServing(): Promise<void> {
    while (!this.output.includes('Stop with Ctrl-C.')) {
      await Promise.race([once(this.#process.stdout!, 'data'), this.#ended]);
      if (this.hasEnded) throw new Error(`The node did not start: ${this.log || 'it was too slow.'}`);
    }
    this.#url = /API +(\S+)/.exec(this.output)![1]!;
  }
}

/** Several at the same instant; all of them, or none stays. */
export async function startNodes(
  count: number,
  options: NodeOptions | ((place: number) => NodeOptions),
): Promise<NodeProcess[]> {
  const optionsOf = typeof options === 'function' ? options : () => options;
  const starting = Array.from({ length: count }, (_, place) => NodeProcess.start(optionsOf(place)));
  const settled = await Promise.allSettled(starting);
  const nodes = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failed = settled.find((each) => each.status === 'rejected');
  if (!failed) return nodes;
  await stopNodes(nodes);
  throw failed.reason;
}

export async function stopNodes(nodes: readonly NodeProcess[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.stop()));
}
