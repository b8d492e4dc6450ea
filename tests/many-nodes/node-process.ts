/** A node: the program as operators run it, in its own process. The node ends when this process ends. */

import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { isTestProcess, recordLog, recordOutput, recordSettings } from '../secrets/secret-record.ts';

export interface NodeOptions {
  readonly databaseUrl: string;
  /** Runs the program of another checkout of this repository. */
  readonly checkout?: string;
  /** Settings by environment variable, without the prefix. */
  readonly settings?: Readonly<Record<string, string>>;
  /** An abort kills the node unless it already serves requests. */
  readonly signal?: AbortSignal;
  /** A module that is loaded before the program. */
  readonly preload?: string;
  /** Options of Node itself, for example `--max-old-space-size=300`. */
  readonly nodeFlags?: readonly string[];
  /** The file for the log. By default this process reads the log, which slows down both processes. */
  readonly logFile?: string;
  /** The soft limit of `ulimit -f` on the size of files that the node writes. */
  readonly maxFileKilobytes?: number;
}

const thisCheckout = join(import.meta.dirname, '../..');
const endWithParent = join(import.meta.dirname, 'end-with-parent.ts');
/** The compile cache halves the time of a start. */
const compileCache = join(import.meta.dirname, '../../node_modules/.cache/espalier-nodes');
const startTimeoutMs = 120_000;
const outputTimeoutMs = 60_000;
/** Longer than any stop timeout of a node, even on a busy machine. */
const stopTimeoutMs = 60_000;

/** All nodes of this process use the same administrator, whichever node creates it. */
export const administrator = { username: 'admin', password: `correct horse ${randomUUID()}` };
/** Without a master key, a start on PostgreSQL logs a warning. */
const masterKey = randomBytes(32).toString('base64');

export class NodeProcess {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #logFile: string | undefined;
  #log = '';
  /** Standard output. */
  output = '';
  #url = '';

  /** Returns immediately, without waiting until the node serves requests. */
  static launch(options: NodeOptions): NodeProcess {
    return new NodeProcess(options);
  }

  /** Resolves when the node serves requests. If it does not start, rejects with its log. */
  static async start(options: NodeOptions): Promise<NodeProcess> {
    const node = new NodeProcess(options);
    const kill = () => node.#process.kill('SIGKILL');
    const timeout = setTimeout(kill, startTimeoutMs);
    options.signal?.addEventListener('abort', kill);
    try {
      await node.#waitUntilServing();
      return node;
    } finally {
      clearTimeout(timeout);
      options.signal?.removeEventListener('abort', kill);
    }
  }

  private constructor(options: NodeOptions) {
    const { databaseUrl, settings, preload, nodeFlags = [], logFile, maxFileKilobytes } = options;
    const program = join(options.checkout ?? thisCheckout, 'server/bin/espalier.js');
    const variables = {
      PORT: '0',
      DATABASE_URL: databaseUrl,
      ADMIN_USERNAME: administrator.username,
      ADMIN_PASSWORD: administrator.password,
      MASTER_KEY: masterKey,
      LOG_LEVEL: isTestProcess ? 'trace' : 'warn',
      ...settings,
    };
    recordSettings(variables);
    const environment = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [`ESPALIER_${name}`, value]),
    );
    const flags = ['--conditions=espalier-source', `--import=${endWithParent}`, ...nodeFlags];
    if (preload) flags.push(`--import=${preload}`);
    this.#logFile = logFile;
    const logDescriptor = logFile === undefined ? undefined : openSync(logFile, 'a');
    const command = [process.execPath, ...flags, program, 'serve'];
    const limitedCommand = [
      'bash',
      '-c',
      'ulimit -S -f "$0" && exec "$@"',
      String(maxFileKilobytes),
      ...command,
    ];
    const [file, ...args] = maxFileKilobytes === undefined ? command : limitedCommand;
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
      recordOutput(this.output);
      recordLog(this.#log);
    });
  }

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

  /** The exit code of an ended node; null if a signal ended it. */
  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  /** Waits until the node has ended, and kills it after a timeout. */
  async waitUntilEnded(): Promise<void> {
    const timeout = setTimeout(() => this.#process.kill('SIGKILL'), stopTimeoutMs);
    await this.#ended;
    clearTimeout(timeout);
  }

  /** Waits until the node has printed or logged the text. */
  async waitForOutput(text: string): Promise<void> {
    const hasText = () => this.output.includes(text) || this.log.includes(text);
    await eventually(() => hasText() || this.hasEnded, `output: ${text}`, outputTimeoutMs);
    // The last output may still be in transit.
    if (!hasText()) await this.#ended;
    if (!hasText()) throw new Error(`Missing output: ${text}`);
  }

  /** Suspends the node for a while, like an overloaded or migrated machine. */
  async freeze(ms: number): Promise<void> {
    this.#process.kill('SIGSTOP');
    await sleep(ms);
    this.#process.kill('SIGCONT');
  }

  /** Kills the node, like a power failure. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#ended;
  }

  /** Stops the node gracefully. Returns whether it exited by itself. */
  async stop(): Promise<boolean> {
    this.signal('SIGTERM');
    await this.waitUntilEnded();
    return this.#process.exitCode === 0;
  }

  async #waitUntilServing(): Promise<void> {
    while (!this.output.includes('Stop with Ctrl-C.')) {
      await Promise.race([once(this.#process.stdout!, 'data'), this.#ended]);
      if (this.hasEnded) throw new Error(`The node did not start: ${this.log || 'it was too slow.'}`);
    }
    this.#url = /API +(\S+)/.exec(this.output)![1]!;
  }
}

/** Starts several nodes at the same instant. If one fails, stops all. */
export async function startNodes(
  count: number,
  options: NodeOptions | ((index: number) => NodeOptions),
): Promise<NodeProcess[]> {
  const optionsOf = typeof options === 'function' ? options : () => options;
  const starts = Array.from({ length: count }, (_, index) => NodeProcess.start(optionsOf(index)));
  const results = await Promise.allSettled(starts);
  const nodes = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failure = results.find((each) => each.status === 'rejected');
  if (!failure) return nodes;
  await stopNodes(nodes);
  throw failure.reason;
}

export async function stopNodes(nodes: readonly NodeProcess[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.stop()));
}
