/** Formats journal entries as sentences with links. The sentences contain only data of the entry. */

export type JournalKind =
  | 'CREATE_FOLDER'
  | 'UPDATE_FOLDER'
  | 'MOVE_FOLDER'
  | 'DELETE_FOLDER'
  | 'RESTORE_FOLDER'
  | 'DUPLICATE_FOLDER'
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
  | 'RETIRE_KEY'
  | 'VIEW_AS';

export type JournalDetails = Readonly<Record<string, unknown>>;

export interface JournalEntry {
  readonly number: number;
  readonly at: string;
  readonly kind: JournalKind;
  readonly byId: string | null;
  readonly by: { readonly id: string; readonly username: string } | null;
  readonly folderId: string | null;
  readonly folder: { readonly id: string; readonly name: string; readonly path: string } | null;
  /** The paths at the time of the change. Null in entries of older versions. */
  readonly path: string | null;
  readonly formerPath: string | null;
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
    path
    formerPath
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

/** A part of a sentence. With `to`, it links to the page of a folder, user or group. */
export interface SentencePart {
  readonly text: string;
  readonly to?: string;
}

type Phrase = readonly SentencePart[];

/** Template tag that inserts texts and phrases into a phrase. */
function phrase(texts: TemplateStringsArray, ...values: readonly (string | Phrase)[]): Phrase {
  return texts
    .flatMap((text, index) => {
      const value = values[index] ?? '';
      return [{ text }, ...(typeof value === 'string' ? [{ text: value }] : value)];
    })
    .filter(({ text }) => text !== '');
}

function link(text: string, to: string): Phrase {
  return [{ text, to }];
}

interface SentenceOptions {
  /** On the page of a folder, the folder is called "it". */
  readonly isAboutFolder?: boolean;
}

/** A sentence that starts with the actor and has no full stop. */
export function formatJournalEntry(entry: JournalEntry, options: SentenceOptions = {}): Phrase {
  return phrase`${formatActor(entry)} ${formatAction(entry, options.isAboutFolder === true)}`;
}

/** The action without the actor, for a table with a separate column: “Created “Plans””. */
export function formatJournalAction(entry: JournalEntry): Phrase {
  const [first, ...others] = formatAction(entry, false);
  return first
    ? [{ ...first, text: first.text.charAt(0).toUpperCase() + first.text.slice(1) }, ...others]
    : [];
}

export function formatActor({ by, byId }: JournalEntry): Phrase {
  if (by) return link(by.username, `/users/${by.id}`);
  return byId === null ? phrase`The server` : phrase`A deleted user`;
}

function formatAction(entry: JournalEntry, isAboutFolder: boolean): Phrase {
  const { kind, before, after, byId, userId } = entry;
  const folder = isAboutFolder ? phrase`it` : folderName(entry);
  const [user, group] = [userName(entry), groupName(entry)];
  const grantee = userId === null ? group : user;
  const newGroupName = linkedGroup(entry, quote(after?.['name']));
  switch (kind) {
    case 'CREATE_FOLDER':
      return phrase`created ${folder}`;
    case 'UPDATE_FOLDER':
      return formatFolderUpdate(entry, folder, isAboutFolder);
    case 'MOVE_FOLDER':
      return formatMove(entry, isAboutFolder);
    case 'DELETE_FOLDER':
      return phrase`deleted ${folder}`;
    case 'RESTORE_FOLDER':
      return phrase`restored ${folder}`;
    case 'DUPLICATE_FOLDER':
      return phrase`created ${folder} as a copy of ${entry.formerPath === null ? 'another folder' : quote(entry.formerPath)}`;
    case 'PURGE_FOLDER':
      return phrase`permanently deleted ${folder}${byId === null ? ', after its time in the trash' : ''}`;
    case 'IMPORT_FOLDERS':
      return phrase`imported ${formatCount(after?.['count'], 'folder')} into ${folder}`;
    case 'GRANT_ACCESS':
      if (before)
        return phrase`changed the access of ${grantee} to ${folder} from ${formatLevelChange(before, after)}`;
      if (after?.['level'] === 'NONE') return phrase`blocked the access of ${grantee} to ${folder}`;
      return phrase`gave ${grantee} ${levelName(after?.['level'])} access to ${folder}`;
    case 'REVOKE_ACCESS':
      return phrase`removed ${levelName(before?.['level'])} access to ${folder} from ${grantee}`;
    case 'CREATE_USER':
      return phrase`created ${after?.['isAdministrator'] ? 'the administrator' : 'the user'} ${user}`;
    case 'UPDATE_USER':
      return formatUserUpdate(entry, user);
    case 'CHANGE_PASSWORD':
      return byId === userId ? phrase`changed their password` : phrase`reset the password of ${user}`;
    case 'DELETE_USER':
      return phrase`deleted the user ${user}`;
    case 'CREATE_GROUP':
      return phrase`created ${group}`;
    case 'UPDATE_GROUP':
      return phrase`renamed the group ${quote(before?.['name'])} to ${newGroupName}`;
    case 'DELETE_GROUP':
      return phrase`deleted ${group}`;
    case 'ADD_TO_GROUP':
      return phrase`added ${user} to ${group}`;
    case 'REMOVE_FROM_GROUP':
      return phrase`removed ${user} from ${group}`;
    case 'END_SESSION':
      return formatSessionEnd(entry, user);
    case 'ROTATE_KEY':
      return phrase`created a new signing key`;
    case 'VIEW_AS':
      return phrase`viewed the tree as ${user}`;
    case 'RETIRE_KEY':
      return phrase`retired a signing key`;
  }
}

/** The paths are links to the parents. A parent may have been deleted since. */
function formatMove(entry: JournalEntry, isAboutFolder: boolean): Phrase {
  const { path, formerPath, before, after } = entry;
  if (path === null || formerPath === null) {
    return phrase`moved ${isAboutFolder ? phrase`it` : folderName(entry)} to another folder`;
  }
  const [oldName, newName] = [nameIn(formerPath), nameIn(path)];
  const renaming = oldName === newName ? phrase`` : phrase` as ${linkedFolder(entry, quote(newName))}`;
  const folder = oldName === newName ? linkedFolder(entry, quote(oldName)) : phrase`${quote(oldName)}`;
  const from = linkedParent(formerPath, before?.['parentId']);
  const to = linkedParent(path, after?.['parentId']);
  return phrase`moved ${isAboutFolder ? phrase`it` : folder} from ${from} to ${to}${renaming}`;
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function linkedParent(path: string, parentId: unknown): Phrase {
  const parentPath = path.slice(0, path.lastIndexOf('/')) || '/';
  return typeof parentId === 'string' ? link(parentPath, `/folders/${parentId}`) : phrase`${parentPath}`;
}

function formatFolderUpdate(entry: JournalEntry, folder: Phrase, isAboutFolder: boolean): Phrase {
  const { before, after } = entry;
  const changed = Object.keys(after ?? {});
  const others = changed.filter((key) => key !== 'name').map((key) => textNames[key] ?? key);
  const rest = joinWords(others);
  if (!changed.includes('name')) {
    const texts = rest || 'texts';
    return isAboutFolder ? phrase`changed its ${texts}` : phrase`changed the ${texts} of ${folder}`;
  }
  const [oldName, newName] = [quote(before?.['name']), quote(after?.['name'])];
  const more = rest && `, and changed its ${rest}`;
  return isAboutFolder
    ? phrase`renamed it from ${oldName} to ${newName}${more}`
    : phrase`renamed ${oldName} to ${linkedFolder(entry, newName)}${more}`;
}

const textNames: Readonly<Record<string, string>> = {
  title: 'title',
  icon: 'icon',
  description: 'description',
  properties: 'properties',
};

function formatUserUpdate(entry: JournalEntry, user: Phrase): Phrase {
  const { before, after, userId, byId } = entry;
  const newName = linkedUser(entry, quote(after?.['username']));
  const actions = [
    after?.['username'] !== undefined &&
      phrase`renamed the user ${quote(before?.['username'])} to ${newName}`,
    after?.['isAdministrator'] === true && phrase`made ${user} an administrator`,
    after?.['isAdministrator'] === false && phrase`removed the administrator role from ${user}`,
    after?.['isDisabled'] === true && phrase`disabled ${user}`,
    after?.['isDisabled'] === false && phrase`enabled ${user}`,
  ].filter((action) => action !== false);
  if (actions.length === 0) return userId === byId ? phrase`changed their account` : phrase`changed ${user}`;
  return actions.reduce((all, action) => phrase`${all} and ${action}`);
}

const endings: Readonly<Record<string, string>> = {
  password: ', because the password was changed',
  disabled: ', because the user was disabled',
  limit: ', because the user had too many sessions',
  replay: ', because a refresh token was used twice',
};

function formatSessionEnd({ after, byId, userId }: JournalEntry, user: Phrase): Phrase {
  const because = typeof after?.['because'] === 'string' ? after['because'] : '';
  if (because === 'logout' && byId === userId) return phrase`signed out`;
  const sessions = after?.['count'] === undefined ? 'a session' : formatCount(after['count'], 'session');
  const whose = byId !== null && byId === userId ? phrase`of their own` : phrase`of ${user}`;
  return phrase`ended ${sessions} ${whose}${endings[because] ?? ''}`;
}

function folderName(entry: JournalEntry): Phrase {
  const { path, folder, before, after } = entry;
  // The name at the time of the change. The path of the root contains no name.
  const name = (path && nameIn(path)) || (folder?.name ?? after?.['name'] ?? before?.['name']);
  return linkedFolder(entry, name === undefined ? 'a deleted folder' : quote(name));
}

function userName(entry: JournalEntry): Phrase {
  const { user, before, after } = entry;
  const name = user?.username ?? after?.['username'] ?? before?.['username'];
  return linkedUser(entry, typeof name === 'string' ? name : 'a deleted user');
}

function groupName(entry: JournalEntry): Phrase {
  const { group, groupId, before, after } = entry;
  const name = group?.name ?? (groupId === null ? undefined : (after?.['name'] ?? before?.['name']));
  return name === undefined ? phrase`a deleted group` : phrase`the group ${linkedGroup(entry, quote(name))}`;
}

function linkedFolder({ folder }: JournalEntry, text: string): Phrase {
  return folder ? link(text, `/folders/${folder.id}`) : phrase`${text}`;
}

function linkedUser({ user }: JournalEntry, text: string): Phrase {
  return user ? link(text, `/users/${user.id}`) : phrase`${text}`;
}

function linkedGroup({ group }: JournalEntry, text: string): Phrase {
  return group ? link(text, `/groups/${group.id}`) : phrase`${text}`;
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
