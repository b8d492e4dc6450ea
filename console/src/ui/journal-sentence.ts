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
  | 'ENROL_SECOND_FACTOR'
  | 'REMOVE_SECOND_FACTOR'
  | 'RESET_SECOND_FACTOR'
  | 'CREATE_RECOVERY_CODES'
  | 'USE_RECOVERY_CODE'
  | 'DELETE_USER'
  | 'CREATE_GROUP'
  | 'UPDATE_GROUP'
  | 'DELETE_GROUP'
  | 'ADD_TO_GROUP'
  | 'REMOVE_FROM_GROUP'
  | 'END_SESSION'
  | 'ROTATE_KEY'
  | 'RETIRE_KEY'
  | 'VIEW_AS'
  | 'CREATE_API_KEY'
  | 'REVOKE_API_KEY'
  | 'LINK_IDENTITY'
  | 'UNLINK_IDENTITY';

export type JournalDetails = Readonly<Record<string, unknown>>;

export interface JournalEntry {
  readonly number: number;
  readonly at: string;
  readonly kind: JournalKind;
  readonly byId: string | null;
  readonly by: { readonly id: string; readonly username: string } | null;
  readonly byApiKeyId: string | null;
  /** Null for an auth token, and 90 days after the key has ended. */
  readonly byApiKey: { readonly name: string } | null;
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
    byApiKeyId
    byApiKey {
      name
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

export function formatActor(entry: JournalEntry): Phrase {
  const { by, byId, byApiKeyId } = entry;
  const user = by ? link(by.username, `/users/${by.id}`) : phrase`A deleted user`;
  if (byId === null) return phrase`The server`;
  return byApiKeyId === null ? user : phrase`${user} with ${apiKeyName(entry)}`;
}

function apiKeyName({ byId, byApiKeyId, byApiKey }: JournalEntry): Phrase {
  if (!byApiKey) return phrase`an API key`;
  return phrase`the API key ${link(quote(byApiKey.name), `/api-keys?user=${byId}&apiKey=${byApiKeyId}`)}`;
}

function formatAction(entry: JournalEntry, isAboutFolder: boolean): Phrase {
  const { kind, before, after, byId, userId } = entry;
  const folder = isAboutFolder ? phrase`it` : folderName(entry);
  const [user, group] = [userName(entry), groupName(entry)];
  const grantee = userId === null ? group : user;
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
      return formatGrant(entry, grantee, folder);
    case 'REVOKE_ACCESS':
      return phrase`removed ${levelName(before?.['level'])} access to ${folder} from ${grantee}`;
    case 'CREATE_USER':
      return phrase`created ${userKindName(after)} ${user}${after?.['singleSignOn'] ? ' at the first single sign-on' : ''}`;
    case 'UPDATE_USER':
      return formatUserUpdate(entry, user);
    case 'CHANGE_PASSWORD':
      return byId === userId ? phrase`changed their password` : phrase`reset the password of ${user}`;
    case 'ENROL_SECOND_FACTOR':
    case 'REMOVE_SECOND_FACTOR':
    case 'RESET_SECOND_FACTOR':
    case 'CREATE_RECOVERY_CODES':
    case 'USE_RECOVERY_CODE':
      return formatFactorChange(entry, user);
    case 'DELETE_USER':
      return phrase`deleted the user ${user}`;
    case 'CREATE_GROUP':
    case 'UPDATE_GROUP':
    case 'DELETE_GROUP':
    case 'ADD_TO_GROUP':
    case 'REMOVE_FROM_GROUP':
      return formatGroupChange(entry, user, group);
    case 'END_SESSION':
      return formatSessionEnd(entry, user);
    case 'VIEW_AS':
      return phrase`viewed the tree as ${user}`;
    case 'LINK_IDENTITY':
    case 'UNLINK_IDENTITY':
      return formatLink(entry, user);
    case 'ROTATE_KEY':
    case 'RETIRE_KEY':
    case 'CREATE_API_KEY':
    case 'REVOKE_API_KEY':
      return formatKeyChange(entry, user);
  }
}

function userKindName(after: JournalDetails | null): string {
  const isService = after?.['kind'] === 'SERVICE';
  if (!after?.['isAdministrator']) return isService ? 'the service account' : 'the user';
  return isService ? 'the service account with the administrator role' : 'the administrator';
}

function formatKeyChange({ kind, before, after, byId, userId }: JournalEntry, user: Phrase): Phrase {
  const isOwn = byId !== null && byId === userId;
  if (kind === 'ROTATE_KEY') return phrase`created a new signing key`;
  if (kind === 'RETIRE_KEY') return phrase`retired a signing key`;
  if (kind === 'CREATE_API_KEY') {
    const owner = isOwn ? phrase`` : phrase` for ${user}`;
    return phrase`created the API key ${quote(after?.['name'])}${owner}`;
  }
  const owner = isOwn ? phrase`` : phrase` of ${user}`;
  return phrase`revoked the API key ${quote(before?.['name'])}${owner}`;
}

function formatGrant({ before, after }: JournalEntry, grantee: Phrase, folder: Phrase): Phrase {
  if (before)
    return phrase`changed the access of ${grantee} to ${folder} from ${formatLevelChange(before, after)}`;
  if (after?.['level'] === 'NONE') return phrase`blocked the access of ${grantee} to ${folder}`;
  return phrase`gave ${grantee} ${levelName(after?.['level'])} access to ${folder}`;
}

function formatLink({ kind, before, after }: JournalEntry, user: Phrase): Phrase {
  const { name, singleSignOn } = (kind === 'LINK_IDENTITY' ? after : before) ?? {};
  return kind === 'LINK_IDENTITY'
    ? phrase`linked ${user} with the account ${quote(name)} at ${quote(singleSignOn)}`
    : phrase`unlinked ${user} from the account ${quote(name)} at ${quote(singleSignOn)}`;
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
    after?.['kind'] === 'SERVICE' && phrase`converted ${user} to a service account`,
    after?.['isAdministrator'] === true && phrase`made ${user} an administrator`,
    after?.['isAdministrator'] === false && phrase`removed the administrator role from ${user}`,
    after?.['isDisabled'] === true && phrase`disabled ${user}`,
    after?.['isDisabled'] === false && phrase`enabled ${user}`,
  ].filter((action) => action !== false);
  if (actions.length === 0) return userId === byId ? phrase`changed their account` : phrase`changed ${user}`;
  return actions.reduce((all, action) => phrase`${all} and ${action}`);
}

function formatGroupChange(entry: JournalEntry, user: Phrase, group: Phrase): Phrase {
  const { kind, before, after } = entry;
  if (kind === 'ADD_TO_GROUP') return phrase`added ${user} to ${group}`;
  if (kind === 'REMOVE_FROM_GROUP') return phrase`removed ${user} from ${group}`;
  if (kind === 'CREATE_GROUP') return phrase`created ${group}`;
  if (kind === 'DELETE_GROUP') return phrase`deleted ${group}`;
  const newName = linkedGroup(entry, quote(after?.['name']));
  return phrase`renamed the group ${quote(before?.['name'])} to ${newName}`;
}

function formatFactorChange({ kind, before, after }: JournalEntry, user: Phrase): Phrase {
  const details = kind === 'REMOVE_SECOND_FACTOR' ? before : after;
  const passkey = details?.['factor'] === 'PASSKEY' && phrase`the passkey ${quote(details['name'])}`;
  if (kind === 'ENROL_SECOND_FACTOR') {
    return passkey ? phrase`added ${passkey}` : phrase`set up an authenticator app`;
  }
  if (kind === 'REMOVE_SECOND_FACTOR') return phrase`removed ${passkey || 'their authenticator app'}`;
  if (kind === 'CREATE_RECOVERY_CODES') return phrase`created new recovery codes`;
  if (kind === 'RESET_SECOND_FACTOR') return phrase`reset the second factor of ${user}`;
  return phrase`used a recovery code, with ${formatCount(after?.['left'], 'code')} left`;
}

const endings: Readonly<Record<string, string>> = {
  password: ', because the password was changed',
  'second-factor': ', because a second factor was changed',
  disabled: ', because the user was disabled',
  limit: ', because the user had too many sessions',
  provider: ', because the single sign-on provider ended it',
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
