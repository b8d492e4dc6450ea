/** `espalier grant` and `espalier explain`: who has access to a folder, and why. */

import { UsageError, invalidValue } from '../config/start-error.ts';
import { apiCommand } from './api/connection.ts';
import { everyItem, listReader, pageInfo } from './api/pages.ts';
import {
  findFolderReference,
  findGroup,
  findUser,
  folderWord,
  mutate,
  userWord,
  type ApiConnection,
  type NamedFolder,
  type NamedGroup,
  type NamedUser,
} from './api/resolve-names.ts';
import type { CommandInput, Group, Options } from './command.ts';
import { escaped, formatFacts, formatTable, toMinute } from './terminal/output.ts';

export interface GrantDetails {
  readonly level: string;
  readonly grantedAt: string;
  readonly folder: NamedFolder;
  readonly user: NamedUser | null;
  readonly group: NamedGroup | null;
}

const grantFields = 'level grantedAt folder { id path } user { id username } group { id name }';

/** The grants on a folder, and on those above it if they are inherited. */
export function readGrants(
  connection: ApiConnection,
  id: string,
  inherited: boolean,
): Promise<readonly GrantDetails[]> {
  const query = `query ($id: ID!, $inherited: Boolean!, $first: Int, $after: String) {
    of: folder(id: $id) { list: access(inherited: $inherited, first: $first, after: $after) {
      items { ${grantFields} } ${pageInfo}
    } }
  }`;
  return everyItem(listReader<GrantDetails>(connection, query, { id, inherited }));
}

export function subjectOf({ user, group }: Pick<GrantDetails, 'user' | 'group'>): string {
  if (user) return user.username;
  return group ? `group ${group.name}` : '';
}

const list = apiCommand({
  about: 'List the grants on a folder',
  aliases: ['ls'],
  words: [folderWord],
  options: { inherited: { about: 'Include the grants on the folders above, nearest first' } },
  details: 'Lists all grants if you manage the folder, otherwise only the grants to you and your groups.',
  examples: ['espalier grant list /Places', 'espalier grant list "/Places/Floor 2" --inherited'],
  async run(connection, { words: [reference], options: { inherited } }) {
    const { id } = await findFolderReference(connection, reference!);
    const grants = await readGrants(connection, id, inherited);
    const rows = grants.map((each) => [
      each.folder.path,
      subjectOf(each),
      each.level,
      toMinute(each.grantedAt),
    ]);
    const none = `No grants found.${inherited ? '' : ' To include the folders above, use --inherited.'}`;
    return { data: grants, text: () => formatTable(['Folder', 'To', 'Level', 'Since (UTC)'], rows, none) };
  },
});

const subjectOptions = {
  user: { value: 'name', about: 'The user, by name or id:<id>' },
  group: { value: 'name', about: 'The group, by name or id:<id>; use either --user or --group' },
} as const satisfies Options;

type SubjectInput = Pick<CommandInput<typeof subjectOptions>, 'options'>;

function requireOneSubject({ options: { user, group } }: SubjectInput): void {
  if ((user === undefined) !== (group === undefined)) return;
  throw new UsageError('Use either --user <name> or --group <name>.');
}

/** Finds the user or the group, for the input of a mutation and for people. */
async function findSubject(connection: ApiConnection, { options: { user, group } }: SubjectInput) {
  if (user !== undefined) {
    const { id, username } = await findUser(connection, user);
    return { input: { userId: id }, name: username };
  }
  const { id, name } = await findGroup(connection, group!);
  return { input: { groupId: id }, name: `the group ${name}` };
}

const levels = ['read', 'write', 'manage', 'none'] as const;

const create = apiCommand({
  about: 'Grant a user or a group access to a folder, or change the level of their grant',
  aliases: ['set', 'add'],
  words: [folderWord, { name: 'level', about: 'read, write, manage or none', completions: levels }],
  options: subjectOptions,
  details: `Requires MANAGE on the folder. Each user or group has at most one grant on a folder: a new one replaces it. A grant applies to
the folder and its contents, unless a deeper grant overrides it.

The level write includes read, and manage includes write and the right to grant access. The level none blocks inherited access.`,
  examples: [
    'espalier grant create /Places read --user anna',
    'espalier grant set /Places manage --user anna',
    'espalier grant create /Places/Archive none --group gardeners',
  ],
  validate(input) {
    toLevel(input.words[1]!);
    requireOneSubject(input);
  },
  async run(connection, input) {
    const [reference, word] = input.words;
    const level = toLevel(word!);
    const folder = await findFolderReference(connection, reference!);
    const subject = await findSubject(connection, input);
    await mutate(connection, 'grantAccess', { folderId: folder.id, level, ...subject.input }, 'cursor');
    return {
      data: { folder, level, ...subject.input },
      text:
        level === 'NONE'
          ? escaped`Blocked the access of ${subject.name} to ${folder.path}.`
          : escaped`Granted ${level} on ${folder.path} to ${subject.name}.`,
    };
  },
});

function toLevel(word: string): string {
  const level = levels.find((each) => each === word.toLowerCase());
  if (level) return level.toUpperCase();
  throw invalidValue('<level>', `one of ${levels.join(', ')}`, word);
}

const remove = apiCommand({
  about: 'Delete a grant',
  aliases: ['rm'],
  words: [folderWord],
  options: subjectOptions,
  details:
    "Requires MANAGE on the folder. Inherited access then applies again. To block inherited access, run 'espalier grant create' with the level none.",
  examples: ['espalier grant delete /Places --user anna', 'espalier grant delete /Places --group gardeners'],
  validate: requireOneSubject,
  async run(connection, input) {
    const folder = await findFolderReference(connection, input.words[0]!);
    const subject = await findSubject(connection, input);
    await mutate(connection, 'revokeAccess', { folderId: folder.id, ...subject.input }, 'cursor');
    return {
      data: { folder, ...subject.input },
      text: escaped`Deleted the grant on ${folder.path} to ${subject.name}. Inherited access applies.`,
    };
  },
});

interface EffectiveAccess {
  readonly user: NamedUser;
  readonly level: string;
  /** Null for administrators. */
  readonly grant: GrantDetails | null;
}

const who = apiCommand({
  about: 'List the users with access to a folder, each with the grant that determines it',
  words: [folderWord],
  details:
    'Requires MANAGE on the folder. Includes inherited access and administrators, who have MANAGE on every folder.',
  examples: ['espalier grant who "/Places/Floor 2"', 'espalier grant who /Places --json'],
  async run(connection, { words: [reference] }) {
    const { id } = await findFolderReference(connection, reference!);
    const query = `query ($id: ID!, $first: Int, $after: String) {
      of: folder(id: $id) { list: effectiveAccess(first: $first, after: $after) {
        items { user { id username } level grant { ${grantFields} } } ${pageInfo}
      } }
    }`;
    const users = await everyItem(listReader<EffectiveAccess>(connection, query, { id }));
    const rows = users.map(({ user, level, grant: deciding }) => [
      user.username,
      level,
      deciding ? describeGrant(deciding) : 'administrator',
    ]);
    return {
      data: users,
      text: () => formatTable(['User', 'Level', 'Because of'], rows, 'No users have access.'),
    };
  },
});

export const grant: Group = { commands: { list, who, create, delete: remove } };

interface Explanation {
  readonly user: NamedUser;
  readonly folder: NamedFolder;
  readonly level: string;
  readonly isPassage: boolean | null;
  readonly reason: string;
  readonly grant: GrantDetails | null;
}

export const explain = apiCommand({
  about: 'Explain the access of a user to a folder',
  words: [userWord, folderWord],
  details:
    "Users can explain their own access. Administrators and users who manage the folder can explain the access of all users. For a list of the users with access, run 'espalier grant who'.",
  examples: ['espalier explain anna "/Places/Floor 2"', 'espalier explain anna / --json'],
  async run(connection, { words: [who, where] }) {
    const { client, signal } = connection;
    const { id: userId } = await findUser(connection, who!);
    const { id: folderId } = await findFolderReference(connection, where!);
    const query = `query ($userId: ID!, $folderId: ID!) {
      explainAccess(userId: $userId, folderId: $folderId) {
        user { id username } folder { id path } level isPassage reason grant { ${grantFields} }
      }
    }`;
    type Answer = { explainAccess: Explanation };
    const { explainAccess } = await client.query<Answer>(query, { userId, folderId }, { signal });
    return { data: explainAccess, text: formatExplanation(explainAccess) };
  },
});

function formatExplanation({ user, folder, level, grant: deciding, reason }: Explanation): string {
  return formatFacts([
    ['User', user.username],
    ['Folder', folder.path],
    ['Level', level],
    ['Why', reason],
    ['Grant', deciding ? `${describeGrant(deciding)}, since ${toMinute(deciding.grantedAt)} UTC` : 'none'],
  ]);
}

function describeGrant(deciding: GrantDetails): string {
  return `${deciding.level} to ${subjectOf(deciding)} on ${deciding.folder.path}`;
}
