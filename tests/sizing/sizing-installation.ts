/**
 * A PostgreSQL server that syncs its commits, a large tree, users who may change it, and one or more nodes with
 * production settings.
 */

import type { Database } from '../../server/src/database/database.ts';
import { openWithoutMigrating } from '../../server/src/database/open-database.ts';
import { sql } from '../../server/src/database/statement.ts';
import { ApiClient } from '../support/api-client.ts';
import { importBatch, createEstate, type RunQuery } from '../large-tree/estate.ts';
import { estateName, shapeEstate } from '../large-tree/tree-shape.ts';
import { administrator, NodeProcess, stopNodes } from '../many-nodes/node-process.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { subfolderCount, SizingClient, type FolderIds } from './sizing-client.ts';
import {
  listChildren,
  readCpuMicroseconds,
  readFamilyCpuMicroseconds,
  readParent,
} from '../../bench/processes.ts';

export interface CpuUse {
  readonly nodesMicroseconds: number;
  readonly databaseMicroseconds: number;
}

const nodeSettings = { LOGIN_THROTTLE: 'off', AUTH_TOKEN_SECONDS: '86400' };

const selectOwnProcess = sql<object, { pid: number }>`select pg_backend_pid() as pid`;
const countConnections = sql<object, { count: number }>`
  select count(*) as count from pg_stat_activity where application_name = 'espalier'`;
const folderBytes = sql<object, { bytes: number }>`
  select pg_total_relation_size('folders') / count(*) as bytes from folders`;
const journalEntryBytes = sql<object, { bytes: number }>`
  select pg_total_relation_size('journal') / count(*) as bytes from journal`;

export class SizingInstallation {
  readonly #server: PostgresServer;
  readonly #signal: AbortSignal;
  readonly #nodes: { readonly process: NodeProcess; readonly pid: number }[] = [];
  #database: Database | undefined;
  #postmaster = 0;

  /** Starts PostgreSQL and one node. If the start fails, removes everything again. */
  static async start(signal: AbortSignal): Promise<SizingInstallation> {
    const installation = new SizingInstallation(await PostgresServer.start({ isDurable: true }), signal);
    try {
      await installation.#open();
      return installation;
    } catch (error) {
      await installation.remove();
      throw error;
    }
  }

  private constructor(server: PostgresServer, signal: AbortSignal) {
    this.#server = server;
    this.#signal = signal;
  }

  get nodeUrls(): string[] {
    return this.#nodes.map(({ process: { url } }) => url);
  }

  async addNode(): Promise<void> {
    const pidsBefore = listChildren(process.pid);
    const node = await NodeProcess.start({
      databaseUrl: this.#server.superuserUrl,
      settings: nodeSettings,
    });
    const pid = listChildren(process.pid).find((child) => !pidsBefore.includes(child))!;
    this.#nodes.push({ process: node, pid });
  }

  /** Returns the CPU time of all nodes and of all PostgreSQL processes since their start. */
  readCpuUse(): CpuUse {
    return {
      nodesMicroseconds: this.#nodes.reduce((sum, { pid }) => sum + readCpuMicroseconds(pid), 0),
      databaseMicroseconds: readFamilyCpuMicroseconds(this.#postmaster),
    };
  }

  /** Counts the connections of all nodes together, including idle ones. */
  async countConnections(): Promise<number> {
    return (await this.#database!.get(countConnections, {}))!.count;
  }

  async readBytesOnDisk(): Promise<{ folder: number; journalEntry: number }> {
    const folder = (await this.#database!.get(folderBytes, {}))!.bytes;
    return { folder, journalEntry: (await this.#database!.get(journalEntryBytes, {}))!.bytes };
  }

  /**
   * Creates the tree and returns the id of its top folder. Also updates the statistics of PostgreSQL, because
   * PostgreSQL itself updates them up to a minute later.
   */
  async createTree(folders: number): Promise<string> {
    const topFolderId = await createEstate(await this.#administrator(), shapeEstate(folders));
    const { dialect } = this.#database!;
    await this.#database!.transaction(async (transaction) => {
      for (const statement of dialect.afterLoading) await transaction.define(statement);
    });
    return topFolderId;
  }

  /** Creates users with one grant each, on the whole tree, and logs them in. */
  async createClients(
    count: number,
    topFolderId: string,
  ): Promise<{ clients: SizingClient[]; folderIds: FolderIds }> {
    const query = await this.#administrator();
    const folders = Array.from({ length: subfolderCount }, (_, index) => ({
      name: `Subfolder ${index + 1}`,
      folders: [],
    }));
    await importBatch(query, topFolderId, [
      { name: 'Listed', folders },
      { name: 'Changed', folders: [] },
    ]);
    const { listed, changed } = await query<Record<'listed' | 'changed', Id>>(
      `{listed: folder(path: "/${estateName}/Listed"){id} changed: folder(path: "/${estateName}/Changed"){id}}`,
    );
    const folderIds = { listedId: listed.id, changedId: changed.id };
    const clients: SizingClient[] = [];
    for (let number = 1; number <= count; number++) {
      const person = { username: `reader ${number}`, password: `walnut cabin ${number}` };
      const { createUser } = await query<{ createUser: { user: Id } }>(
        'mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}',
        { input: person },
      );
      await query('mutation($input: GrantAccessInput!){grantAccess(input: $input){folder{id}}}', {
        input: { folderId: topFolderId, userId: createUser.user.id, level: 'WRITE' },
      });
      const client = new SizingClient(person, folderIds);
      await client.connect(this.nodeUrls[0]!);
      await client.logIn();
      clients.push(client);
    }
    return { clients, folderIds };
  }

  async remove(): Promise<void> {
    await this.#database?.close();
    await stopNodes(this.#nodes.map((node) => node.process));
    await this.#server.remove();
  }

  async #open(): Promise<void> {
    await this.addNode();
    const url = new URL(this.#server.superuserUrl);
    url.searchParams.set('application_name', 'bench');
    // In this pool mode, the connection receives no notifications, which would cost CPU time of PostgreSQL.
    this.#database = await openWithoutMigrating(url.href, { poolMode: 'transaction' });
    this.#postmaster = readParent((await this.#database.get(selectOwnProcess, {}))!.pid);
  }

  async #administrator(): Promise<RunQuery> {
    const client = new ApiClient(this.nodeUrls[0]!, this.#signal);
    const authToken = await client.logIn(administrator);
    return (query, variables = {}) => client.query(query, variables, authToken);
  }
}

interface Id {
  readonly id: string;
}
