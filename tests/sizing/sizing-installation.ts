/**
 * A durable PostgreSQL with a large tree, users who may change it, and one or more nodes with production
 * settings.
 */

import type { Database } from '../../server/src/database/database.ts';
import { openWithoutMigrating } from '../../server/src/database/open-database.ts';
import { sql } from '../../server/src/database/statement.ts';
import { ApiClient } from '../support/api-client.ts';
import { importBatch, createEstate, type RunQuery } from '../large-tree/estate.ts';
import { estateName, shapeEstate } from '../large-tree/tree-shape.ts';
import { administrator, NodeProcess, stopNodes } from '../many-nodes/node-process.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { foldersOnShelf, SizingClient, type FolderIds } from './sizing-client.ts';
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

  /** Starts with one node. Leaves nothing behind if the start fails. */
  static async start(signal: AbortSignal): Promise<SizingInstallation> {
    const installation = new SizingInstallation(await PostgresServer.start({ isDurable: true }), signal);
    try {
      await installation.#begin();
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
    const before = listChildren(process.pid);
    const node = await NodeProcess.start({
      databaseUrl: this.#server.superuserUrl,
      settings: nodeSettings,
    });
    const pid = listChildren(process.pid).find((child) => !before.includes(child))!;
    this.#nodes.push({ process: node, pid });
  }

  /** The CPU time of all nodes and of all PostgreSQL processes since their start. */
  cpuUse(): CpuUse {
    return {
      nodesMicroseconds: this.#nodes.reduce((sum, { pid }) => sum + readCpuMicroseconds(pid), 0),
      databaseMicroseconds: readFamilyCpuMicroseconds(this.#postmaster),
    };
  }

  /** The connections of all nodes together, including idle ones. */
  async connections(): Promise<number> {
    return (await this.#database!.get(countConnections, {}))!.count;
  }

  async bytesOnDisk(): Promise<{ folder: number; journalEntry: number }> {
    const folder = (await this.#database!.get(folderBytes, {}))!.bytes;
    return { folder, journalEntry: (await this.#database!.get(journalEntryBytes, {}))!.bytes };
  }

  /**
   * Creates the tree and returns the id of its top folder. Also updates the statistics of PostgreSQL, which
   * would take up to a minute otherwise.
   */
  async createTree(folders: number): Promise<string> {
    const estateId = await createEstate(await this.#administrator(), shapeEstate(folders));
    const { dialect } = this.#database!;
    await this.#database!.transaction(async (transaction) => {
      for (const statement of dialect.afterLoading) await transaction.define(statement);
    });
    return estateId;
  }

  /** Creates users with one grant each, on the whole tree, and logs them in. */
  async createClients(
    count: number,
    estateId: string,
  ): Promise<{ clients: SizingClient[]; folderIds: FolderIds }> {
    const query = await this.#administrator();
    const folders = Array.from({ length: foldersOnShelf }, (_, index) => ({
      name: `Book ${index + 1}`,
      folders: [],
    }));
    await importBatch(query, estateId, [
      { name: 'Shelf', folders },
      { name: 'Desk', folders: [] },
    ]);
    const { shelf, desk } = await query<Record<'shelf' | 'desk', Id>>(
      `{shelf: folder(path: "/${estateName}/Shelf"){id} desk: folder(path: "/${estateName}/Desk"){id}}`,
    );
    const folderIds = { shelfId: shelf.id, deskId: desk.id };
    const clients: SizingClient[] = [];
    for (let number = 1; number <= count; number++) {
      const person = { username: `reader ${number}`, password: `walnut cabin ${number}` };
      const { createUser } = await query<{ createUser: { user: Id } }>(
        'mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}',
        { input: person },
      );
      await query('mutation($input: GrantAccessInput!){grantAccess(input: $input){folder{id}}}', {
        input: { folderId: estateId, userId: createUser.user.id, level: 'WRITE' },
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

  async #begin(): Promise<void> {
    await this.addNode();
    const url = new URL(this.#server.superuserUrl);
    url.searchParams.set('application_name', 'bench');
    // In this mode, the connection receives no notifications, which would cost CPU time of the database.
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
