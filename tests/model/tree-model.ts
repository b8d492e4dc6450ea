/**
 * The tree, the grants on it and who sees what, said as simply as possible: nothing is remembered that can be worked
 * out. It shares nothing with the server but the natural order of names.
 */

import { sortKey } from '../../server/src/folders/text-keys.ts';

export const levelNames = ['NONE', 'READ', 'WRITE', 'MANAGE'] as const;
export const [NONE, READ, WRITE, MANAGE] = [0, 1, 2, 3] as const;
export type Level = 0 | 1 | 2 | 3;

export interface ModelUser {
  readonly id: string;
  readonly username: string;
  readonly isAdministrator: boolean;
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
  /** Empty until the server has told it. */
  id: string;
  name: string;
  version: number;
  readonly createdAt: number;
  updatedAt: number;
  /** Null for the root, and for what was deleted. */
  parent: ModelFolder | null;
  readonly children: Set<ModelFolder>;
  /** By the ids of users and groups. */
  readonly grants: Map<string, Level>;
  /** When each of them was given. */
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
  /** Whatever has ever been on the tree, in the order of its coming. */
  readonly known: ModelFolder[] = [];
  now: number;

  constructor(given: {
    root: Pick<ModelFolder, 'id' | 'name' | 'createdAt'>;
    users: readonly ModelUser[];
    groups: readonly ModelGroup[];
    trashDays: number;
    now: number;
  }) {
    this.users = given.users;
    this.groups = given.groups;
    this.trashDays = given.trashDays;
    this.now = given.now;
    this.root = newFolder(given.root.name, null, given.root.createdAt);
    this.root.id = given.root.id;
    this.known.push(this.root);
  }

  find(id: string): ModelFolder | undefined {
    return this.known.find((folder) => folder.id === id);
  }

  /** From the root to the folder itself; undefined if it is not on the tree. */
  wayTo(folder: ModelFolder): ModelFolder[] | undefined {
    const way = [folder];
    for (let at = folder.parent; at; at = at.parent) way.push(at);
    return way.at(-1) === this.root ? way.reverse() : undefined;
  }

  onTree(): ModelFolder[] {
    return this.known.filter((folder) => this.wayTo(folder));
  }

  pathOf(folder: ModelFolder): string {
    const below = this.wayTo(folder)!.slice(1);
    return `/${below.map(({ name }) => name).join('/')}`;
  }

  groupsOf(user: ModelUser): ModelGroup[] {
    return this.groups.filter(({ memberIds }) => memberIds.has(user.id));
  }

  /** The grants on this very folder that concern a user, the highest first, those to the user before a group's. */
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

  /** The nearest, and of several on one folder the highest. */
  decidingGrant(user: ModelUser, folder: ModelFolder | null): DecidingGrant | undefined {
    for (let at = folder; at; at = at.parent) {
      const [highest] = this.grantsFor(user, at);
      if (highest) return highest;
    }
    return undefined;
  }

  levelOf(user: ModelUser, folder: ModelFolder): Level {
    if (user.isAdministrator) return MANAGE;
    return this.decidingGrant(user, folder)?.level ?? NONE;
  }

  /** What a user sees: what they may read, the root, and whatever leads to something they were given. */
  seenBy(user: ModelUser): Set<ModelFolder> {
    const seen = new Set([this.root]);
    for (const folder of this.onTree()) {
      if (this.levelOf(user, folder) >= READ) seen.add(folder);
      if (!this.grantsFor(user, folder).some(({ level }) => level >= READ)) continue;
      for (const each of this.wayTo(folder)!) seen.add(each);
    }
    return seen;
  }

  isSeen(user: ModelUser, folder: ModelFolder): boolean {
    if (!this.wayTo(folder)) return false;
    return folder === this.root || this.levelOf(user, folder) >= READ || this.#leadsOn(user, folder);
  }

  #leadsOn(user: ModelUser, folder: ModelFolder): boolean {
    return [...folder.children].some(
      (child) => this.grantsFor(user, child).some(({ level }) => level >= READ) || this.#leadsOn(user, child),
    );
  }

  /** Each folder right before what is inside it, with its depth below the top. */
  descendants(
    top: ModelFolder,
    seen: ReadonlySet<ModelFolder>,
    deepest = Infinity,
    depth = 1,
  ): { folder: ModelFolder; depth: number }[] {
    if (depth > deepest) return [];
    return childrenAmong(top, seen).flatMap((folder) => [
      { folder, depth },
      ...this.descendants(folder, seen, deepest, depth + 1),
    ]);
  }

  plant(parent: ModelFolder, name: string, texts: Partial<Texts>): ModelFolder {
    const folder = Object.assign(newFolder(name, parent, this.now), texts);
    parent.children.add(folder);
    this.known.push(folder);
    return folder;
  }
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

function newFolder(name: string, parent: ModelFolder | null, now: number): ModelFolder {
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
