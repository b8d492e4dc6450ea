/** Formats journal entries as sentences. The sentences contain only data of the entry. */

export type JournalKind =
  | 'CREATE_FOLDER'
  | 'UPDATE_FOLDER'
  | 'MOVE_FOLDER'
  | 'DELETE_FOLDER'
  | 'RESTORE_FOLDER'
  | 'IMPORT_FOLDERS'
  | 'PURGE_FOLDER'
  | 'GRANT_ACCESS'
  | 'REVOKE_ACCESS'
  | 'CREATE_USER'
  | 'UPDATE_USER'
  | 'CHANGE_PASSWORD'
  | 'DELETE_USER'
  | 'CREATE_GROUP'
  | 'UPDATE_GROUP'
  | 'DELETE_GROUP'
  | 'ADD_TO_GROUP'
  | 'REMOVE_FROM_GROUP'
  | 'END_SESSION'
  | 'ROTATE_KEY'
  | 'RETIRE_KEY';

export type JournalDetails = Readonly<Record<string, unknown>>;

export interface JournalEntry {
  readonly number: number;
  readonly at: string;
  readonly kind: JournalKind;
  readonly byId: string | null;
  readonly by: { readonly id: string; readonly username: string } | null;
  readonly folderId: string | null;
  readonly folder: { readonly id: string; readonly name: string; readonly path: string } | null;
  readonly userId: string | null;
  readonly user: { readonly id: string; readonly username: string } | null;
  readonly groupId: string | null;
  readonly group: { readonly id: string; readonly name: string } | null;
  readonly sessionId: string | null;
  readonly before: JournalDetails | null;
  readonly after: JournalDetails | null;
}

/** The fragment that reads a `JournalEntry`. Append it to a document and spread `...JournalFields`. */
export const journalFields = /* GraphQL */ `
  fragment JournalFields on JournalEntry {
    number
    at
    kind
    byId
    by {
      id
      username
    }
    folderId
    folder {
      id
      name
      path
    }
    userId
    user {
      id
      username
    }
    groupId
    group {
      id
      name
    }
    sessionId
    before
    after
  }
`;

interface SentenceOptions {
  /** On the page of a folder, the folder is called "it". */
  readonly isAboutFolder?: boolean;
}

/** A sentence that starts with the actor and has no full stop. */
export function formatJournalEntry(entry: JournalEntry, options: SentenceOptions = {}): string {
  return `${formatActor(entry)} ${formatAction(entry, options.isAboutFolder === true)}`;
}

/** The action without the actor, for a table with a separate column: “Created “Plans””. */
export function formatJournalAction(entry: JournalEntry): string {
  const action = formatAction(entry, false);
  return action.charAt(0).toUpperCase() + action.slice(1);
}

export function formatActor({ by, byId }: JournalEntry): string {
  return by?.username ?? (byId === null ? 'The server' : 'A deleted user');
}

function formatAction(entry: JournalEntry, isAboutFolder: boolean): string {
  const { kind, before, after, byId, userId } = entry;
  const folder = isAboutFolder ? 'it' : folderName(entry);
  const [user, group] = [userName(entry), groupName(entry)];
  const grantee = userId === null ? group : user;
  switch (kind) {
    case 'CREATE_FOLDER':
      return `created ${folder}`;
    case 'UPDATE_FOLDER':
      return formatFolderUpdate(entry, folder, isAboutFolder);
    case 'MOVE_FOLDER':
      return `moved ${folder} to another folder`;
    case 'DELETE_FOLDER':
      return `deleted ${folder}`;
    case 'RESTORE_FOLDER':
      return `restored ${folder}`;
    case 'PURGE_FOLDER':
      return `permanently deleted ${folder}, after its time in the trash`;
    case 'IMPORT_FOLDERS':
      return `imported ${formatCount(after?.['count'], 'folder')} into ${folder}`;
    case 'GRANT_ACCESS':
      if (before)
        return `changed the access of ${grantee} to ${folder} from ${formatLevelChange(before, after)}`;
      if (after?.['level'] === 'NONE') return `blocked the access of ${grantee} to ${folder}`;
      return `gave ${grantee} ${levelName(after?.['level'])} access to ${folder}`;
    case 'REVOKE_ACCESS':
      return `removed ${levelName(before?.['level'])} access to ${folder} from ${grantee}`;
    case 'CREATE_USER':
      return `created ${after?.['isAdministrator'] ? 'the administrator' : 'the user'} ${user}`;
    case 'UPDATE_USER':
      return formatUserUpdate(entry, user);
    case 'CHANGE_PASSWORD':
      return byId === userId ? 'changed their password' : `reset the password of ${user}`;
    case 'DELETE_USER':
      return `deleted the user ${user}`;
    case 'CREATE_GROUP':
      return `created ${group}`;
    case 'UPDATE_GROUP':
      return `renamed the group ${quote(before?.['name'])} to ${quote(after?.['name'])}`;
    case 'DELETE_GROUP':
      return `deleted ${group}`;
    case 'ADD_TO_GROUP':
      return `added ${user} to ${group}`;
    case 'REMOVE_FROM_GROUP':
      return `removed ${user} from ${group}`;
    case 'END_SESSION':
      return formatSessionEnd(entry, user);
    case 'ROTATE_KEY':
      return 'created a new signing key';
    case 'RETIRE_KEY':
      return 'retired a signing key';
  }
}

function formatFolderUpdate({ before, after }: JournalEntry, folder: string, isAboutFolder: boolean): string {
  const changed = Object.keys(after ?? {});
  const others = changed.filter((key) => key !== 'name').map((key) => textNames[key] ?? key);
  const article = isAboutFolder ? 'its' : 'the';
  const rest = joinWords(others);
  if (!changed.includes('name'))
    return `changed ${article} ${rest || 'texts'}${isAboutFolder ? '' : ` of ${folder}`}`;
  const names = `${quote(before?.['name'])} to ${quote(after?.['name'])}`;
  return `renamed ${isAboutFolder ? 'it from ' : ''}${names}${rest && `, and changed its ${rest}`}`;
}

const textNames: Readonly<Record<string, string>> = {
  title: 'title',
  icon: 'icon',
  description: 'description',
  properties: 'properties',
};

function formatUserUpdate({ before, after, userId, byId }: JournalEntry, user: string): string {
  const actions = [
    after?.['username'] !== undefined &&
      `renamed the user ${quote(before?.['username'])} to ${quote(after['username'])}`,
    after?.['isAdministrator'] === true && `made ${user} an administrator`,
    after?.['isAdministrator'] === false && `took the administrator role from ${user}`,
    after?.['isDisabled'] === true && `disabled ${user}`,
    after?.['isDisabled'] === false && `enabled ${user}`,
  ].filter((action) => typeof action === 'string');
  return joinWords(actions) || `changed ${userId === byId ? 'their account' : user}`;
}

const endings: Readonly<Record<string, string>> = {
  password: ', because the password was changed',
  disabled: ', because the user was disabled',
  limit: ', because the user had too many sessions',
  replay: ', because a refresh token was used twice',
};

function formatSessionEnd({ after, byId, userId }: JournalEntry, user: string): string {
  const because = typeof after?.['because'] === 'string' ? after['because'] : '';
  if (because === 'logout' && byId === userId) return 'signed out';
  const sessions = after?.['count'] === undefined ? 'a session' : formatCount(after['count'], 'session');
  const whose = byId !== null && byId === userId ? 'of their own' : `of ${user}`;
  return `ended ${sessions} ${whose}${endings[because] ?? ''}`;
}

function folderName({ folder, before, after }: JournalEntry): string {
  const name = folder?.name ?? after?.['name'] ?? before?.['name'];
  return name === undefined ? 'a deleted folder' : quote(name);
}

function userName({ user, before, after }: JournalEntry): string {
  const name = user?.username ?? after?.['username'] ?? before?.['username'];
  return typeof name === 'string' ? name : 'a deleted user';
}

function groupName({ group, groupId, before, after }: JournalEntry): string {
  const name = group?.name ?? (groupId === null ? undefined : (after?.['name'] ?? before?.['name']));
  return name === undefined ? 'a deleted group' : `the group ${quote(name)}`;
}

function formatLevelChange(before: JournalDetails, after: JournalDetails | null): string {
  return `${levelName(before['level'])} to ${levelName(after?.['level'])}`;
}

function levelName(level: unknown): string {
  return typeof level === 'string' ? level.toLowerCase() : 'some';
}

function formatCount(count: unknown, noun: string): string {
  return typeof count === 'number'
    ? `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
    : `${noun}s`;
}

function quote(text: unknown): string {
  return typeof text === 'string' ? `“${text}”` : '“”';
}

function joinWords(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? '';
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
