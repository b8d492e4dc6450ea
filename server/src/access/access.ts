/**
 * What one person may see and do, at one moment: the one place that decides it, for queries, changes, search and
 * counts alike. A grant holds for the whole subtree until a deeper one says otherwise; the folders on the way to
 * something readable are passages, of which only the name is shown.
 */

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

const { NONE, READ, WRITE, MANAGE } = accessLevels;

/** Which children of a folder somebody sees: all, all but these, or only these. */
export interface ChildRule {
  readonly except?: readonly string[];
  readonly only?: readonly string[];
}

export interface AccessFacts {
  readonly userId: string;
  readonly groupIds: readonly string[];
  readonly isAdministrator: boolean;
  /**
   * The user's grants: the way to the folder, and the highest level given there. The way starts at the root, or else
   * the folder is off the tree: then its grant is only for judging what could be seen earlier.
   */
  readonly grants: readonly { readonly pathIds: readonly string[]; readonly level: AccessLevel }[];
  readonly rootId: string;
}

const allChildren: ChildRule = {};

export class Access {
  readonly userId: string;
  readonly isAdministrator: boolean;
  /** The user and the user's groups: whom a grant can be for to concern this user. */
  readonly subjectIds: ReadonlySet<string>;
  readonly rootId: string;
  /** Folders that are neither seen nor lead to what is seen, wherever they would be inherited. */
  readonly hiddenIds: readonly string[];
  /** Passages amid what can be read: of them, too, only the name is shown. */
  readonly nameOnlyIds: readonly string[];
  readonly #granted = new Map<string, AccessLevel>();
  readonly #grantedOffTree = new Map<string, AccessLevel>();
  readonly #passages: Set<string>;
  /** Of a folder, the children that have a grant, or lead to one. */
  readonly #remarkable = new Map<string, Set<string>>();
  #rightsKey: string | undefined;

  constructor({ userId, groupIds, isAdministrator, grants, rootId }: AccessFacts) {
    this.userId = userId;
    this.isAdministrator = isAdministrator;
    this.subjectIds = new Set([userId, ...groupIds]);
    this.rootId = rootId;
    this.#passages = new Set([rootId]);
    for (const { pathIds, level } of grants) {
      if (pathIds[0] !== rootId) {
        this.#grantedOffTree.set(pathIds.at(-1)!, level);
        continue;
      }
      this.#granted.set(pathIds.at(-1)!, level);
      if (level >= READ) pathIds.slice(0, -1).forEach((id) => this.#passages.add(id));
      pathIds.forEach((id, place) => place > 0 && this.#remark(pathIds[place - 1]!, id));
    }
    const closed = [...this.#granted].filter(([, level]) => level < READ).map(([id]) => id);
    this.hiddenIds = closed.filter((id) => !this.#passages.has(id));
    this.nameOnlyIds = closed.filter((id) => this.#passages.has(id));
  }

  /** How much memory it takes, roughly. */
  get size(): number {
    return 1 + this.#granted.size + this.#grantedOffTree.size + this.#passages.size;
  }

  /** All folders at which the level may change: those with a grant, and those that lead to one. Some are off the tree. */
  get grantPathIds(): ReadonlySet<string> {
    return new Set([...this.#granted.keys(), ...this.#grantedOffTree.keys(), ...this.#passages]);
  }

  /** Equal for users who may see and do the same everywhere. It does not depend on who the user is. */
  get rightsKey(): string {
    this.#rightsKey ??= createHash('sha256')
      .update(
        JSON.stringify([
          this.rootId,
          this.isAdministrator,
          [...this.#granted].sort(),
          [...this.#grantedOffTree].sort(),
          [...this.#passages].sort(),
          [...this.#remarkable].map(([id, children]) => [id, ...[...children].sort()]).sort(),
        ]),
      )
      .digest('base64');
    return this.#rightsKey;
  }

  get seesOnlyRoot(): boolean {
    return !this.isAdministrator && ![...this.#granted.values()].some((level) => level >= READ);
  }

  /** Grants on deleted folders count: they can be restored. */
  get writesSomething(): boolean {
    const levels = [...this.#granted.values(), ...this.#grantedOffTree.values()];
    return this.isAdministrator || levels.some((level) => level >= WRITE);
  }

  get managesSomething(): boolean {
    return this.isAdministrator || [...this.#granted.values()].includes(MANAGE);
  }

  /** Whether it shows and allows the same, wherever folders are or were. */
  hasSameRightsAs(other: Access): boolean {
    if (this.isAdministrator || other.isAdministrator) return this.isAdministrator === other.isAdministrator;
    return (
      isDeepStrictEqual(this.#granted, other.#granted) &&
      isDeepStrictEqual(this.#grantedOffTree, other.#grantedOffTree) &&
      isDeepStrictEqual(this.#passages, other.#passages)
    );
  }

  /** Whether there is no difference at all. */
  equals(other: Access): boolean {
    return (
      this.isAdministrator === other.isAdministrator &&
      isDeepStrictEqual(this.subjectIds, other.subjectIds) &&
      isDeepStrictEqual(this.#remarkable, other.#remarkable) &&
      this.hasSameRightsAs(other)
    );
  }

  /** The level on a folder whose parent has the level `inherited`. */
  levelOf(id: string, inherited: AccessLevel): AccessLevel {
    return this.isAdministrator ? MANAGE : (this.#granted.get(id) ?? inherited);
  }

  /** The level at the end of a way that starts at the root, as it is now or was earlier. */
  levelAt(pathIds: readonly string[]): AccessLevel {
    if (this.isAdministrator) return MANAGE;
    for (let place = pathIds.length - 1; place >= 0; place--) {
      const level = this.#granted.get(pathIds[place]!) ?? this.#grantedOffTree.get(pathIds[place]!);
      if (level !== undefined) return level;
    }
    return NONE;
  }

  /** Whether the end of a way is seen, and with it all on the way: it may be one of earlier. */
  sees(pathIds: readonly string[]): boolean {
    if (pathIds[0] !== this.rootId) return false;
    let level: AccessLevel = NONE;
    return pathIds.every((id) => {
      level = this.#ownLevel(id) ?? level;
      return this.isVisible(id, level);
    });
  }

  /** What is granted on a folder itself, on the tree or off it. */
  #ownLevel(id: string): AccessLevel | undefined {
    return this.isAdministrator ? MANAGE : (this.#granted.get(id) ?? this.#grantedOffTree.get(id));
  }

  /** Whether a folder on which the user has this level is seen: read, or at least passed through. */
  isVisible(id: string, level: AccessLevel): boolean {
    return level >= READ || this.#passages.has(id);
  }

  /** Which children of a folder with this level are seen. */
  childRule(id: string, level: AccessLevel): ChildRule {
    if (this.isAdministrator) return allChildren;
    const remarkable = [...(this.#remarkable.get(id) ?? [])];
    if (level < READ)
      return { only: remarkable.filter((child) => this.isVisible(child, this.levelOf(child, NONE))) };
    const hidden = remarkable.filter((child) => !this.isVisible(child, this.levelOf(child, level)));
    return hidden.length > 0 ? { except: hidden } : allChildren;
  }

  #remark(parentId: string, childId: string): void {
    const known = this.#remarkable.get(parentId);
    if (known) known.add(childId);
    else this.#remarkable.set(parentId, new Set([childId]));
  }
}

/** How much somebody may do with a folder. Each level includes those before it. */

export const accessLevels = { NONE: 0, READ: 1, WRITE: 2, MANAGE: 3 } as const;

export type AccessLevelName = keyof typeof accessLevels;
export type AccessLevel = (typeof accessLevels)[AccessLevelName];
const names = Object.keys(accessLevels) as AccessLevelName[];

export function accessLevelName(level: AccessLevel): AccessLevelName {
  return names[level]!;
}
