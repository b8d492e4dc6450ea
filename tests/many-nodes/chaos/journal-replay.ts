/** What must be stored if the journal is true: all that it tells of folders, groups, grants and sessions, from the start. */

export interface Entry {
  readonly number: number;
  readonly kind: string;
  readonly byUserId: string | null;
  readonly folderId: string | null;
  readonly userId: string | null;
  readonly groupId: string | null;
  readonly sessionId: string | null;
  readonly way: readonly string[] | null;
  readonly after: Readonly<Record<string, unknown>>;
  readonly cursor: string;
}

/** As far as the journal tells: of what was imported, not where and how it began. */
export interface ReplayedFolder {
  /** Null if it is deleted. */
  parentId?: string | null;
  name?: string;
  title?: string;
  /** How often it was changed. */
  changes: number;
  isCreated: boolean;
}

export interface Replayed {
  readonly folders: ReadonlyMap<string, ReplayedFolder>;
  readonly importedCount: number;
  /** Names, by id. */
  readonly groups: ReadonlyMap<string, string>;
  /** Group and user. */
  readonly members: ReadonlySet<string>;
  /** Levels, by folder and subject. */
  readonly grants: ReadonlyMap<string, string>;
  /** Whether they are disabled, by id. */
  readonly users: ReadonlyMap<string, boolean>;
  /** How often each was ended by itself. */
  readonly endedSessions: ReadonlyMap<string, number>;
  /** How many were ended because their users were disabled. */
  readonly endedTogether: number;
}

export function replay(entries: readonly Entry[]): Replayed {
  const folders = new Map<string, ReplayedFolder>();
  const groups = new Map<string, string>();
  const members = new Set<string>();
  const grants = new Map<string, string>();
  const users = new Map<string, boolean>();
  const endedSessions = new Map<string, number>();
  let importedCount = 0;
  let endedTogether = 0;
  const change = (id: string, changed: Partial<ReplayedFolder>) => {
    const folder = folders.get(id) ?? { changes: 0, isCreated: false };
    folders.set(id, { ...folder, ...changed, changes: folder.changes + 1 });
  };

  const take: Readonly<Record<string, (entry: Entry) => void>> = {
    CREATE_FOLDER: ({ folderId, way, after }) =>
      folders.set(folderId!, {
        parentId: way!.at(-2)!,
        name: after['name'] as string,
        changes: 0,
        isCreated: true,
      }),
    UPDATE_FOLDER: ({ folderId, after }) => change(folderId!, after),
    MOVE_FOLDER: ({ folderId, after }) => change(folderId!, { parentId: after['parentId'] as string }),
    DELETE_FOLDER: ({ folderId }) => change(folderId!, { parentId: null }),
    RESTORE_FOLDER: ({ folderId, way, after }) =>
      change(folderId!, { parentId: way!.at(-2)!, name: after['name'] as string }),
    IMPORT_FOLDERS: ({ after }) => (importedCount += after['count'] as number),
    GRANT_ACCESS: ({ folderId, userId, groupId, after }) =>
      grants.set(`${folderId} ${userId ?? groupId}`, after['level'] as string),
    REVOKE_ACCESS: ({ folderId, userId, groupId }) => grants.delete(`${folderId} ${userId ?? groupId}`),
    CREATE_USER: ({ userId }) => users.set(userId!, false),
    UPDATE_USER: ({ userId, after }) => users.set(userId!, after['isDisabled'] as boolean),
    CREATE_GROUP: ({ groupId, after }) => groups.set(groupId!, after['name'] as string),
    UPDATE_GROUP: ({ groupId, after }) => groups.set(groupId!, after['name'] as string),
    DELETE_GROUP: ({ groupId }) => {
      groups.delete(groupId!);
      for (const place of grants.keys()) if (place.endsWith(groupId!)) grants.delete(place);
    },
    ADD_TO_GROUP: ({ groupId, userId }) => members.add(`${groupId} ${userId}`),
    REMOVE_FROM_GROUP: ({ groupId, userId }) => members.delete(`${groupId} ${userId}`),
    END_SESSION: ({ sessionId, after }) => {
      if (sessionId === null) endedTogether += after['count'] as number;
      else endedSessions.set(sessionId, (endedSessions.get(sessionId) ?? 0) + 1);
    },
  };

  for (const entry of entries) {
    const taken = take[entry.kind];
    if (!taken) throw new Error(`Nobody does ${entry.kind} here.`);
    taken(entry);
  }
  return { folders, importedCount, groups, members, grants, users, endedSessions, endedTogether };
}
