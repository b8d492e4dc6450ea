/**
 * What one user may see and do at one moment. Queries, changes, search and counts use it. A grant applies to the whole subtree unless
 * a deeper grant replaces it. The ancestors of a readable folder are passages: the user sees only their names.
 */

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { RightsHolder } from '../journal/journal.ts';

/** What a user may do with a folder. Each level includes those before it. */
export const accessLevels = { NONE: 0, READ: 1, WRITE: 2, MANAGE: 3 } as const;

export type AccessLevelName = keyof typeof accessLevels;
export type AccessLevel = (typeof accessLevels)[AccessLevelName];

const { NONE, READ, WRITE, MANAGE } = accessLevels;
const levelNames = Object.keys(accessLevels) as AccessLevelName[];

export function accessLevelName(level: AccessLevel): AccessLevelName {
  return levelNames[level]!;
}

/** Which children of a folder the user sees: all, all except some, or only some. */
export interface ChildRule {
  readonly except?: readonly string[];
  readonly only?: readonly string[];
}

/** The limits of an API key: its rights are the smaller of these and the rights of its user. */
export interface ApiKeyLimits {
  readonly id: string;
  readonly level: AccessLevel;
  /** The only folder that the key reads, with the folders inside it. Null if the key is not confined to a folder. */
  readonly folderId: string | null;
  /** Whether the key keeps the administrator role of its user. */
  readonly isAdministrator: boolean;
}

/** Identifies the rights of a holder, for example in a cache. */
export function rightsIdOf({ userId, apiKeyId }: RightsHolder): string {
  return apiKeyId ?? userId;
}

export interface AccessFacts {
  readonly userId: string;
  /** Set if the rights are those of an API key. `grants` and `isAdministrator` then already include its limits. */
  readonly apiKey?: ApiKeyLimits | undefined;
  readonly groupIds: readonly string[];
  readonly isAdministrator: boolean;
  /**
   * The path of each folder with a grant, and the highest level there. The path of a deleted folder does not start at the root:
   * its grant only determines what the user could see earlier.
   */
  readonly grants: readonly { readonly pathIds: readonly string[]; readonly level: AccessLevel }[];
  readonly rootId: string;
}

const allChildren: ChildRule = {};

export class Access implements RightsHolder {
  readonly userId: string;
  readonly apiKey: ApiKeyLimits | undefined;
  readonly isAdministrator: boolean;
  /** The user and the user's groups. */
  readonly subjectIds: ReadonlySet<string>;
  readonly rootId: string;
  /** Folders with a grant of NONE that do not lead to a visible folder. */
  readonly hiddenIds: readonly string[];
  /** Folders with a grant of NONE that are passages. */
  readonly nameOnlyIds: readonly string[];
  /** The granted levels by folder id. */
  readonly #levels = new Map<string, AccessLevel>();
  readonly #levelsInTrash = new Map<string, AccessLevel>();
  /** The deleted folders in which a grant gives less than MANAGE. */
  readonly #unmanagedIdsInTrash = new Set<string>();
  readonly #passages: Set<string>;
  /** By parent: the children that have a grant or lead to a folder with a grant. */
  readonly #grantPathChildren = new Map<string, Set<string>>();
  #rightsKey: string | undefined;

  constructor({ userId, apiKey, groupIds, isAdministrator, grants, rootId }: AccessFacts) {
    this.userId = userId;
    this.apiKey = apiKey;
    this.isAdministrator = isAdministrator;
    this.subjectIds = new Set([userId, ...groupIds]);
    this.rootId = rootId;
    this.#passages = new Set([rootId]);
    for (const { pathIds, level } of grants) {
      if (pathIds[0] !== rootId) {
        this.#levelsInTrash.set(pathIds.at(-1)!, level);
        if (level < MANAGE) this.#unmanagedIdsInTrash.add(pathIds[0]!);
        continue;
      }
      this.#levels.set(pathIds.at(-1)!, level);
      if (level >= READ) pathIds.slice(0, -1).forEach((id) => this.#passages.add(id));
      pathIds.forEach((id, index) => index > 0 && this.#addGrantPathChild(pathIds[index - 1]!, id));
    }
    const closedIds = [...this.#levels].filter(([, level]) => level < READ).map(([id]) => id);
    this.hiddenIds = closedIds.filter((id) => !this.#passages.has(id));
    this.nameOnlyIds = closedIds.filter((id) => this.#passages.has(id));
  }

  get apiKeyId(): string | undefined {
    return this.apiKey?.id;
  }

  /** Whether these are the rights of this user, so that the viewer may read the details of the account. Never with a confined key. */
  isSelf(userId: string): boolean {
    return userId === this.userId && !this.apiKey?.folderId;
  }

  /** Whether a folder is inside the folder of the API key. Always true if the rights are not confined to a folder. */
  reaches(pathIds: readonly string[]): boolean {
    const confiningId = this.apiKey?.folderId;
    return !confiningId || pathIds.includes(confiningId);
  }

  /** Roughly proportional to the memory that this object takes. */
  get size(): number {
    return 1 + this.#levels.size + this.#levelsInTrash.size + this.#passages.size;
  }

  /** The folders at which the level may change: those with a grant, and the passages. Some are deleted. */
  get grantPathIds(): ReadonlySet<string> {
    return new Set([
      ...this.#levels.keys(),
      ...this.#levelsInTrash.keys(),
      ...this.#passages,
      // A move of any ancestor can change the level that a confined key has on its folder, even if the level was NONE.
      ...(this.apiKey?.folderId ? this.#grantPathChildren.keys() : []),
    ]);
  }

  /** Equal for all users with the same rights on every folder. */
  get rightsKey(): string {
    this.#rightsKey ??= createHash('sha256')
      .update(
        JSON.stringify([
          this.rootId,
          this.isAdministrator,
          [...this.#levels].sort(),
          [...this.#levelsInTrash].sort(),
          [...this.#unmanagedIdsInTrash].sort(),
          [...this.#passages].sort(),
          [...this.#grantPathChildren].map(([id, children]) => [id, ...[...children].sort()]).sort(),
        ]),
      )
      .digest('base64');
    return this.#rightsKey;
  }

  /** Includes grants on deleted folders, which can be restored. */
  get writesSomething(): boolean {
    const levels = [...this.#levels.values(), ...this.#levelsInTrash.values()];
    return this.isAdministrator || levels.some((level) => level >= WRITE);
  }

  /** Whether every grant in a deleted folder gives MANAGE. `id` is the folder that was deleted itself, not a folder inside it. */
  managesInside(id: string): boolean {
    return this.isAdministrator || !this.#unmanagedIdsInTrash.has(id);
  }

  get managesSomething(): boolean {
    return this.isAdministrator || [...this.#levels.values()].includes(MANAGE);
  }

  /** Whether both users see and may do the same on all current and former paths. */
  hasSameRightsAs(other: Access): boolean {
    if (this.isAdministrator || other.isAdministrator) return this.isAdministrator === other.isAdministrator;
    return (
      isDeepStrictEqual(this.#levels, other.#levels) &&
      isDeepStrictEqual(this.#levelsInTrash, other.#levelsInTrash) &&
      isDeepStrictEqual(this.#passages, other.#passages)
    );
  }

  equals(other: Access): boolean {
    return (
      this.isAdministrator === other.isAdministrator &&
      isDeepStrictEqual(this.subjectIds, other.subjectIds) &&
      isDeepStrictEqual(this.#grantPathChildren, other.#grantPathChildren) &&
      isDeepStrictEqual(this.#unmanagedIdsInTrash, other.#unmanagedIdsInTrash) &&
      this.hasSameRightsAs(other)
    );
  }

  /** The topmost folders that grants make readable. Empty for administrators, whose access needs no grant. */
  get topmostReadableIds(): readonly string[] {
    const found: string[] = [];
    const openIds = [this.rootId];
    for (const id of openIds) {
      if ((this.#levels.get(id) ?? NONE) >= READ) found.push(id);
      else for (const childId of this.#grantPathChildren.get(id) ?? []) openIds.push(childId);
    }
    return found;
  }

  /** The level on a folder whose parent has the level `inherited`. */
  levelOf(id: string, inherited: AccessLevel): AccessLevel {
    return this.isAdministrator ? MANAGE : (this.#levels.get(id) ?? inherited);
  }

  /** The level on the last folder of a path from the root. The path may be a former one. */
  levelAt(pathIds: readonly string[]): AccessLevel {
    if (this.isAdministrator) return MANAGE;
    for (let index = pathIds.length - 1; index >= 0; index--) {
      const level = this.#levels.get(pathIds[index]!) ?? this.#levelsInTrash.get(pathIds[index]!);
      if (level !== undefined) return level;
    }
    return NONE;
  }

  /** Whether the user sees all folders of a path. The path may be a former one. */
  sees(pathIds: readonly string[]): boolean {
    if (pathIds[0] !== this.rootId) return false;
    let level: AccessLevel = NONE;
    return pathIds.every((id) => {
      level = this.#ownLevel(id) ?? level;
      return this.isVisible(id, level);
    });
  }

  /** The level that is granted on the folder itself. */
  #ownLevel(id: string): AccessLevel | undefined {
    return this.isAdministrator ? MANAGE : (this.#levels.get(id) ?? this.#levelsInTrash.get(id));
  }

  /** Whether the user sees a folder with this level, either as readable or as a passage. */
  isVisible(id: string, level: AccessLevel): boolean {
    return level >= READ || this.#passages.has(id);
  }

  childRule(id: string, level: AccessLevel): ChildRule {
    if (this.isAdministrator) return allChildren;
    const children = [...(this.#grantPathChildren.get(id) ?? [])];
    if (level < READ)
      return { only: children.filter((child) => this.isVisible(child, this.levelOf(child, NONE))) };
    const hidden = children.filter((child) => !this.isVisible(child, this.levelOf(child, level)));
    return hidden.length > 0 ? { except: hidden } : allChildren;
  }

  #addGrantPathChild(parentId: string, childId: string): void {
    const children = this.#grantPathChildren.get(parentId);
    if (children) children.add(childId);
    else this.#grantPathChildren.set(parentId, new Set([childId]));
  }
}
