/**
 * A real PostgreSQL server in its own temporary folder. It ends when the process that started it ends for any
 * reason. A keeper process then removes its files.
 */

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { fastFolder } from '../runner/database-folder.ts';
import { findFreePort } from '../support/free-port.ts';
import {
  findOwner,
  findPrograms,
  temporaryFolder,
  type Owner,
  type PostgresPrograms,
} from './postgres-programs.ts';

export interface PostgresServerOptions {
  /** Whether commits survive a crash of the machine. This is slower, because the data is on a disk. */
  readonly isDurable?: boolean;
  /** Lines of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

const commonSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 300,
  // Keeps shared memory in the data folder, so that no file stays in /dev/shm.
  dynamic_shared_memory_type: 'mmap',
  // With more iterations, each new connection would cost milliseconds on both sides.
  scram_iterations: 1,
};
const unsyncedSettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
const startTimeoutMs = 60_000;
const pollIntervalMs = 20;

const superuser = 'postgres';
/** May create databases and nothing else. */
const user = 'espalier';

export class PostgresServer {
  readonly #folder: string;
  readonly #dataFolder: string;
  readonly #port: number;
  readonly #password: string;
  readonly #owner: Owner;
  readonly #programs: PostgresPrograms;
  readonly #keeper: ChildProcess;
  #process: ChildProcess | undefined;

  /** Creates a server and starts it. */
  static async start(options: PostgresServerOptions = {}): Promise<PostgresServer> {
    const owner = findOwner();
    const temporary = temporaryFolder(owner);
    const folder = makeFolder(temporary, 'espalier-postgres-', owner);
    const programs = await findPrograms(folder, owner).catch((error: unknown) => {
      rmSync(folder, { recursive: true });
      throw error;
    });
    const dataFolder = makeFolder(
      options.isDurable ? temporary : fastFolder(temporary),
      'espalier-postgres-data-',
      owner,
    );
    const keeper = startKeeper([folder, dataFolder], programs, owner);
    const port = await findFreePort();
    const server = new PostgresServer({ folder, dataFolder, owner, programs, keeper, port });
    try {
      await server.#prepare(options);
      await server.restart();
      await server.#createUser();
    } catch (error) {
      await server.remove();
      throw error;
    }
    return server;
  }

  private constructor(parts: {
    folder: string;
    dataFolder: string;
    owner: Owner;
    programs: PostgresPrograms;
    keeper: ChildProcess;
    port: number;
  }) {
    this.#folder = parts.folder;
    this.#dataFolder = parts.dataFolder;
    this.#owner = parts.owner;
    this.#programs = parts.programs;
    this.#keeper = parts.keeper;
    this.#port = parts.port;
    this.#password = randomUUID();
  }

  /** The URL for a user who may create databases. */
  get url(): string {
    return this.#urlFor(user);
  }

  /** The URL for the superuser. */
  get superuserUrl(): string {
    return this.#urlFor(superuser);
  }

  /** All log output. */
  get log(): string {
    return readFileSync(this.#logFile, 'utf8');
  }

  /** Starts on the same port with all committed data. Stops a running server first. */
  async restart(): Promise<void> {
    await this.stop();
    const log = openSync(this.#logFile, 'a');
    const server = spawn(this.#programs.postgres, ['-D', this.#dataFolder], {
      ...this.#owner,
      cwd: this.#folder,
      // In its own process group, so that Ctrl-C does not stop it.
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#process = server;
    const failure = once(server, 'exit').then(() => {
      throw new Error(`PostgreSQL did not start:\n${this.log.slice(-2_000)}`);
    });
    await Promise.race([failure, this.#waitUntilReady(server)]);
    failure.catch(() => undefined);
  }

  /** Enables encrypted connections. */
  async useTls({ key, certificate }: { key: string; certificate: string }): Promise<void> {
    for (const [name, content] of Object.entries({ 'server.key': key, 'server.crt': certificate })) {
      const file = join(this.#dataFolder, name);
      writeFileSync(file, content, { mode: 0o600 });
      if (this.#owner.uid !== undefined) chownSync(file, this.#owner.uid, this.#owner.gid!);
    }
    appendFileSync(join(this.#dataFolder, 'postgresql.conf'), `ssl = 'on'\n`);
    await this.restart();
  }

  /** Ends every session and flushes all data, like `systemctl stop`. */
  async stop(): Promise<void> {
    await this.#end('SIGINT');
  }

  /** Kills all processes of the server at the same time, like a power failure. */
  async crash(): Promise<void> {
    const children = childrenOf(this.#process?.pid);
    await this.#end('SIGKILL', children);
    // A new server cannot start while one of these processes is alive.
    for (const pid of children) while (isAlive(pid)) await sleep(pollIntervalMs);
  }

  /** Stops the server immediately and removes its folders. */
  async remove(): Promise<void> {
    if (this.#keeper.exitCode !== null) return;
    const gone = once(this.#keeper, 'exit');
    this.#keeper.ref();
    this.#keeper.stdin!.end();
    await gone;
    this.#process = undefined;
  }

  get #logFile(): string {
    return join(this.#folder, 'log');
  }

  #urlFor(name: string): string {
    return `postgres://${name}:${this.#password}@127.0.0.1:${this.#port}/postgres`;
  }

  async #prepare({ isDurable = false, settings }: PostgresServerOptions): Promise<void> {
    const passwordFile = join(this.#folder, 'password');
    writeFileSync(passwordFile, this.#password);
    const flags = ['--encoding=UTF8', '--locale=C', '--auth=scram-sha-256', '--set=scram_iterations=1'];
    await promisify(execFile)(
      this.#programs.initdb,
      [
        ...flags,
        `--pgdata=${this.#dataFolder}`,
        `--username=${superuser}`,
        `--pwfile=${passwordFile}`,
        // There is no data to lose yet.
        '--no-sync',
      ],
      { ...this.#owner, cwd: this.#folder },
    );
    const all = { port: this.#port, ...commonSettings, ...(!isDurable && unsyncedSettings), ...settings };
    const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(join(this.#dataFolder, 'postgresql.conf'), lines.join(''));
  }

  /** Reads the state from the lock file. */
  async #waitUntilReady({ pid }: ChildProcess): Promise<void> {
    const file = join(this.#dataFolder, 'postmaster.pid');
    const deadline = performance.now() + startTimeoutMs;
    for (;;) {
      const lines = readIfExists(file)?.split('\n') ?? [];
      if (Number(lines[0]) === pid && lines[7]?.trim() === 'ready') return;
      if (performance.now() > deadline) throw new Error(`PostgreSQL takes too long to start:\n${this.log}`);
      if (this.#process?.exitCode !== null) return;
      await sleep(pollIntervalMs);
    }
  }

  async #createUser(): Promise<void> {
    const client = new pg.Client(this.superuserUrl);
    await client.connect();
    try {
      await client.query(`create role ${user} login createdb password '${this.#password}'`);
    } finally {
      await client.end();
    }
  }

  async #end(signal: NodeJS.Signals, others: readonly number[] = []): Promise<void> {
    const server = this.#process;
    this.#process = undefined;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    for (const pid of others) killIfRunning(pid);
    await ended;
  }
}

function makeFolder(parent: string, prefix: string, owner: Owner): string {
  const folder = mkdtempSync(join(parent, prefix));
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid!);
  return folder;
}

/**
 * Starts a process that stops the server and removes its folders when its input ends, at the latest when this process ends.
 */
function startKeeper(
  [folder, dataFolder]: [folder: string, dataFolder: string],
  { pgCtl }: PostgresPrograms,
  owner: Owner,
): ChildProcess {
  const script = 'read -r _; "$1" stop --pgdata="$3" --mode=immediate; rm -rf "$2" "$3"';
  const keeper = spawn('sh', ['-c', script, 'keeper', pgCtl, folder, dataFolder], {
    ...owner,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  keeper.unref();
  return keeper;
}

function childrenOf(parent: number | undefined): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && statusOf(pid)?.parent === parent);
}

function isAlive(pid: number): boolean {
  const status = statusOf(pid);
  return status !== undefined && status.state !== 'Z';
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function statusOf(pid: number): { state: string; parent: number } | undefined {
  const text = readIfExists(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: state!, parent: Number(parent) };
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}
