/** Computes the folders, groups, grants and sessions that must be stored according to the journal. */

export interface Entry {
  readonly number: number;
  readonly kind: string;
  readonly byUserId: string | null;
  readonly folderId: string | null;
  readonly userId: string | null;
  readonly groupId: string | null;
  readonly sessionId: string | null;
  readonly path: readonly string[] | null;
  readonly after: Readonly<Record<string, unknown>>;
  readonly cursor: string;
}

/**
 * A folder as far as the journal describes it. Imports do not record the position and initial values of each folder.
 */
export interface ReplayedFolder {
  /** Null if the folder is deleted. */
  parentId?: string | null;
  name?: string;
  title?: string;
  /** The number of changes. */
  changes: number;
  isCreated: boolean;
}

export interface ReplayedState {
  readonly folders: ReadonlyMap<string, ReplayedFolder>;
  readonly importedCount: number;
  /** Names by id. */
  readonly groups: ReadonlyMap<string, string>;
  /** Group id and user id. */
  readonly members: ReadonlySet<string>;
  /** Levels by folder and subject. */
  readonly grants: ReadonlyMap<string, string>;
  /** Whether users are disabled, by id. */
  readonly users: ReadonlyMap<string, boolean>;
  /** How many times each session was ended individually. */
  readonly endedSessions: ReadonlyMap<string, number>;
  /** Sessions ended because their users were disabled. */
  readonly endedByDisabling: number;
}

export function replay(entries: readonly Entry[]): ReplayedState {
  const folders = new Map<string, ReplayedFolder>();
  const groups = new Map<string, string>();
  const members = new Set<string>();
  const grants = new Map<string, string>();
  const users = new Map<string, boolean>();
  const endedSessions = new Map<string, number>();
  let importedCount = 0;
  let endedByDisabling = 0;
  const changeFolder = (id: string, fields: Partial<ReplayedFolder>) => {
    const folder = folders.get(id) ?? { changes: 0, isCreated: false };
    folders.set(id, { ...folder, ...fields, changes: folder.changes + 1 });
  };

  const applyByKind: Readonly<Record<string, (entry: Entry) => void>> = {
    CREATE_FOLDER: ({ folderId, path, after }) =>
      folders.set(folderId!, {
        parentId: path!.at(-2)!,
        name: after['name'] as string,
        changes: 0,
        isCreated: true,
      }),
    UPDATE_FOLDER: ({ folderId, after }) => changeFolder(folderId!, after),
    MOVE_FOLDER: ({ folderId, after }) => changeFolder(folderId!, { parentId: after['parentId'] as string }),
    DELETE_FOLDER: ({ folderId }) => changeFolder(folderId!, { parentId: null }),
    RESTORE_FOLDER: ({ folderId, path, after }) =>
      changeFolder(folderId!, { parentId: path!.at(-2)!, name: after['name'] as string }),
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
      for (const key of grants.keys()) if (key.endsWith(groupId!)) grants.delete(key);
    },
    ADD_TO_GROUP: ({ groupId, userId }) => members.add(`${groupId} ${userId}`),
    REMOVE_FROM_GROUP: ({ groupId, userId }) => members.delete(`${groupId} ${userId}`),
    END_SESSION: ({ sessionId, after }) => {
      if (sessionId === null) endedByDisabling += after['count'] as number;
      else endedSessions.set(sessionId, (endedSessions.get(sessionId) ?? 0) + 1);
    },
  };

  for (const entry of entries) {
    const apply = applyByKind[entry.kind];
    if (!apply) throw new Error(`Unexpected entry kind ${entry.kind}.`);
    apply(entry);
  }
  return { folders, importedCount, groups, members, grants, users, endedSessions, endedByDisabling };
}
