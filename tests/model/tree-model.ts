/**
 * A minimal model of the tree, its grants and what each user sees. It stores nothing that it can compute. It
 * shares only the natural order of names with the server.
 */

import { sortKey } from '../../server/src/folders/folder-texts.ts';

export const levelNames = ['NONE', 'READ', 'WRITE', 'MANAGE'] as const;
export const [NONE, READ, WRITE, MANAGE] = [0, 1, 2, 3] as const;
export type Level = 0 | 1 | 2 | 3;

/** A user, or an API key of a user. */
export interface ModelUser {
  readonly id: string;
  readonly username: string;
  /** For an API key: whether the key acts as administrator. */
  readonly isAdministrator: boolean;
  readonly key?: ModelKey;
}

export interface ModelKey {
  readonly id: string;
  readonly level: Level;
  /** The folder that the key is confined to, or null. */
  readonly folderId: string | null;
  /** Whether the user of the key is an administrator. */
  readonly hasAdministrator: boolean;
}

export interface ModelGroup {
  readonly id: string;
  readonly memberIds: Set<string>;
}

export interface Texts {
  title: string | null;
  icon: string | null;
  description: string | null;
  properties: Record<string, unknown>;
}

export interface ModelFolder extends Texts {
  /** Empty until the server has returned it. */
  id: string;
  name: string;
  version: number;
  readonly createdAt: number;
  updatedAt: number;
  /** Null for the root and for deleted folders. */
  parent: ModelFolder | null;
  readonly children: Set<ModelFolder>;
  /** By the ids of users and groups. */
  readonly grants: Map<string, Level>;
  /** The time of each grant. */
  readonly grantTimes: Map<string, number>;
  deletion: { readonly at: number; readonly from: ModelFolder } | undefined;
}

export interface DecidingGrant {
  readonly folder: ModelFolder;
  readonly subjectId: string;
  readonly level: Level;
}

export class TreeModel {
  readonly root: ModelFolder;
  readonly users: readonly ModelUser[];
  readonly groups: readonly ModelGroup[];
  readonly trashDays: number;
  /** All folders that ever existed, in the order of their creation. */
  readonly allFolders: ModelFolder[] = [];
  now: number;

  constructor(options: {
    root: Pick<ModelFolder, 'id' | 'name' | 'createdAt'>;
    users: readonly ModelUser[];
    groups: readonly ModelGroup[];
    trashDays: number;
    now: number;
  }) {
    this.users = options.users;
    this.groups = options.groups;
    this.trashDays = options.trashDays;
    this.now = options.now;
    this.root = createModelFolder(options.root.name, null, options.root.createdAt);
    this.root.id = options.root.id;
    this.allFolders.push(this.root);
  }

  find(id: string): ModelFolder | undefined {
    return this.allFolders.find((folder) => folder.id === id);
  }

  /** Returns the folders from the root to the folder itself, or undefined if it is not in the tree. */
  pathTo(folder: ModelFolder): ModelFolder[] | undefined {
    const path = [folder];
    for (let at = folder.parent; at; at = at.parent) path.push(at);
    return path.at(-1) === this.root ? path.reverse() : undefined;
  }

  onTree(): ModelFolder[] {
    return this.allFolders.filter((folder) => this.pathTo(folder));
  }

  pathOf(folder: ModelFolder): string {
    const below = this.pathTo(folder)!.slice(1);
    return `/${below.map(({ name }) => name).join('/')}`;
  }

  groupsOf(user: ModelUser): ModelGroup[] {
    return this.groups.filter(({ memberIds }) => memberIds.has(user.id));
  }

  /**
   * Returns the grants on this folder itself that apply to a user: the highest first, the user's own before a
   * group's.
   */
  grantsFor(user: ModelUser, folder: ModelFolder): DecidingGrant[] {
    if (folder.grants.size === 0) return [];
    const groupIds = this.groupsOf(user).map(({ id }) => id);
    return [user.id, ...groupIds.toSorted()]
      .flatMap((subjectId) => {
        const level = folder.grants.get(subjectId);
        return level === undefined ? [] : [{ folder, subjectId, level }];
      })
      .toSorted((one, other) => other.level - one.level);
  }

  /** Returns the grant on the nearest folder. If this folder has several, returns the highest. */
  decidingGrant(user: ModelUser, folder: ModelFolder | null): DecidingGrant | undefined {
    for (let at = folder; at; at = at.parent) {
      const [highest] = this.grantsFor(user, at);
      if (highest) return highest;
    }
    return undefined;
  }

  levelOf(user: ModelUser, folder: ModelFolder): Level {
    if (user.isAdministrator) return MANAGE;
    if (user.key && !this.isInsideKeyFolder(user.key, folder)) return NONE;
    const level = user.key?.hasAdministrator ? MANAGE : (this.decidingGrant(user, folder)?.level ?? NONE);
    return limitLevel(user, level);
  }

  /** Returns the level that a grant on the folder itself gives, or undefined if there is none. */
  ownLevelOf(user: ModelUser, folder: ModelFolder): Level | undefined {
    if (user.key?.hasAdministrator) return undefined;
    const [highest] = this.grantsFor(user, folder);
    return highest && limitLevel(user, highest.level);
  }

  /** A key that is not confined to a folder reaches every folder. */
  isInsideKeyFolder({ folderId }: ModelKey, folder: ModelFolder): boolean {
    if (folderId === null) return true;
    for (let at: ModelFolder | null = folder; at; at = at.parent) if (at.id === folderId) return true;
    return false;
  }

  /**
   * Returns the folders that a user sees: readable ones, the root, and the ancestors of folders with a grant.
   */
  seenBy(user: ModelUser): Set<ModelFolder> {
    const seen = new Set([this.root]);
    for (const folder of this.onTree()) {
      const isRead = this.levelOf(user, folder) >= READ;
      if (isRead) seen.add(folder);
      if (user.key && isRead) for (const each of this.pathTo(folder)!) seen.add(each);
      if (user.key) continue;
      if (!this.grantsFor(user, folder).some(({ level }) => level >= READ)) continue;
      for (const each of this.pathTo(folder)!) seen.add(each);
    }
    return seen;
  }

  isSeen(user: ModelUser, folder: ModelFolder): boolean {
    if (!this.pathTo(folder)) return false;
    if (folder === this.root || this.levelOf(user, folder) >= READ) return true;
    return user.key ? this.#readsBelow(user, folder) : this.#hasGrantBelow(user, folder);
  }

  #readsBelow(user: ModelUser, folder: ModelFolder): boolean {
    return [...folder.children].some(
      (child) => this.levelOf(user, child) >= READ || this.#readsBelow(user, child),
    );
  }

  #hasGrantBelow(user: ModelUser, folder: ModelFolder): boolean {
    return [...folder.children].some(
      (child) =>
        this.grantsFor(user, child).some(({ level }) => level >= READ) || this.#hasGrantBelow(user, child),
    );
  }

  /** Returns each folder directly before its own descendants, with its depth below the top. */
  descendants(
    top: ModelFolder,
    seen: ReadonlySet<ModelFolder>,
    maxDepth = Infinity,
    depth = 1,
  ): { folder: ModelFolder; depth: number }[] {
    if (depth > maxDepth) return [];
    return childrenAmong(top, seen).flatMap((folder) => [
      { folder, depth },
      ...this.descendants(folder, seen, maxDepth, depth + 1),
    ]);
  }

  addFolder(parent: ModelFolder, name: string, texts: Partial<Texts>): ModelFolder {
    const folder = Object.assign(createModelFolder(name, parent, this.now), texts);
    parent.children.add(folder);
    this.allFolders.push(folder);
    return folder;
  }
}

function limitLevel({ key }: ModelUser, level: Level): Level {
  return key && key.level < level ? key.level : level;
}

export function childrenAmong(parent: ModelFolder, seen: ReadonlySet<ModelFolder>): ModelFolder[] {
  return [...parent.children].filter((child) => seen.has(child)).toSorted(byName);
}

export function byName(one: ModelFolder, other: ModelFolder): number {
  return Buffer.compare(sortKey(one.name), sortKey(other.name)) || byId(one, other);
}

export function byId(one: ModelFolder, other: ModelFolder): number {
  return one.id < other.id ? -1 : one.id > other.id ? 1 : 0;
}

function createModelFolder(name: string, parent: ModelFolder | null, now: number): ModelFolder {
  return {
    id: '',
    name,
    title: null,
    icon: null,
    description: null,
    properties: {},
    version: 1,
    createdAt: now,
    updatedAt: now,
    parent,
    children: new Set(),
    grants: new Map(),
    grantTimes: new Map(),
    deletion: undefined,
  };
}
