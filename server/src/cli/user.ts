/** `espalier user`: the users of the server. */

import { apiCommand } from './api/connection.ts';
import { everyItem, withSmallerPages, itemsOf, listReader, pageInfo, type Page } from './api/pages.ts';
import { findUser, mutate, userWord, type ApiConnection, type NamedUser } from './api/resolve-names.ts';
import { describeRoles } from './api/user-roles.ts';
import type { Command, Group } from './command.ts';
import { password } from './password.ts';
import { resetSecondFactor } from './reset-second-factor.ts';
import { escaped, formatFacts, formatTable, toMinute } from './terminal/output.ts';
import { confirm, newPasswordOptions, readNewPassword, withPassword, yesOption } from './terminal/prompts.ts';

interface GroupName {
  readonly name: string;
}

/** A user with the first page of their groups. */
interface UserWithGroupPage extends NamedUser {
  readonly kind: 'PERSON' | 'SERVICE';
  readonly isAdministrator: boolean;
  readonly isDisabled: boolean;
  readonly hasSecondFactor: boolean;
  readonly createdAt: string;
  readonly lastLoginAt: string | null;
  readonly groups: Page<GroupName>;
}

type UserDetails = Omit<UserWithGroupPage, 'groups'> & { readonly groups: readonly GroupName[] };

const groupFields = `items { name } ${pageInfo}`;
const userFields = `id username kind isAdministrator isDisabled hasSecondFactor createdAt lastLoginAt groups { ${groupFields} }`;

/** Reads the remaining pages of the groups. */
async function withAllGroups(
  connection: ApiConnection,
  { groups: start, ...details }: UserWithGroupPage,
): Promise<UserDetails> {
  const query = `query ($id: ID!, $first: Int, $after: String) {
    of: user(id: $id) { list: groups(first: $first, after: $after) { ${groupFields} } }
  }`;
  const read = listReader<GroupName>(connection, query, { id: details.id });
  const groups = await everyItem<GroupName>(async (slice) => (slice.after === null ? start : read(slice)));
  return { ...details, groups };
}

const list = apiCommand({
  about: 'List the users',
  aliases: ['ls'],
  options: { text: { value: 'text', about: 'List only names that contain this text; ignores case' } },
  details: 'For administrators.',
  examples: ['espalier user list', 'espalier user list --text ann --json'],
  async run(connection, { options: { text } }) {
    const query = `query ($text: String, $first: Int, $after: String) {
      list: users(text: $text, first: $first, after: $after) { items { ${userFields} } ${pageInfo} }
    }`;
    const users: UserDetails[] = [];
    const read = withSmallerPages(listReader<UserWithGroupPage>(connection, query, { text }));
    for await (const each of itemsOf(read)) users.push(await withAllGroups(connection, each));
    return { data: users, text: () => formatList(users) };
  },
});

function formatList(users: readonly UserDetails[]): string {
  const rows = users.map((each) => [
    each.username,
    describeRoles(each),
    each.isDisabled ? 'disabled' : 'enabled',
    secondFactorOf(each),
    toMinute(each.lastLoginAt),
    groupsOf(each),
  ]);
  return formatTable(
    ['Name', 'Role', 'State', 'Second factor', 'Last login (UTC)', 'Groups'],
    rows,
    'No users found.',
  );
}

/** A service account has no logins. */
function secondFactorOf({ kind, hasSecondFactor }: UserDetails): string {
  if (kind === 'SERVICE') return '';
  return hasSecondFactor ? 'on' : 'off';
}

function groupsOf({ groups }: UserDetails): string {
  return groups.map(({ name }) => name).join(', ');
}

const show = apiCommand({
  about: 'Show a user',
  words: [userWord],
  details:
    "Users can show themselves, administrators all users. For the sessions of a user, run 'espalier session list --user <name>'.",
  examples: ['espalier user show anna'],
  async run(connection, { words: [reference] }) {
    const { client, signal } = connection;
    const { id } = await findUser(connection, reference!);
    const query = `query ($id: ID!) { user(id: $id) { ${userFields} } }`;
    const answer = await client.query<{ user: UserWithGroupPage }>(query, { id }, { signal });
    const details = await withAllGroups(connection, answer.user);
    const text = formatFacts([
      ['Name', details.username],
      ['Id', details.id],
      ['Role', describeRoles(details) || 'user'],
      ['State', details.isDisabled ? 'disabled' : 'enabled'],
      ['Second factor', secondFactorOf(details)],
      ['Created', `${toMinute(details.createdAt)} UTC`],
      ['Last login', details.lastLoginAt === null ? 'never' : `${toMinute(details.lastLoginAt)} UTC`],
      ['Groups', groupsOf(details)],
    ]);
    return { data: details, text };
  },
});

const nameWord = { name: 'name', about: 'The name: 1 to 128 characters, unique without regard to case' };

async function changeUser(
  connection: ApiConnection,
  mutation: 'createUser' | 'updateUser' | 'convertToServiceAccount',
  input: object,
): Promise<UserDetails> {
  const fields = `user { ${userFields} }`;
  const { user: changed } = await mutate<{ user: UserWithGroupPage }>(connection, mutation, input, fields);
  return withAllGroups(connection, changed);
}

const create = apiCommand({
  about: 'Create a user, or a service account for a program',
  aliases: ['add'],
  words: [nameWord],
  options: {
    administrator: { about: 'Make the user an administrator with full access' },
    service: {
      about: 'Create a service account, which has API keys instead of a password',
      conflicts: ['generate', 'passwordStdin', 'passwordFile'],
    },
    ...newPasswordOptions,
  },
  details: `For administrators. Asks for the password twice, unless an option provides it.
A password must have 8 to 128 characters and must not be the user name or a common password.

A service account has no password and no sessions. To give a program access, run 'espalier key create --user <name>'.`,
  examples: ['espalier user create anna --generate', 'espalier user create robot --service'],
  async run(connection, { words: [username = ''], options }) {
    if (options.service) return createService(connection, username, options.administrator);
    const { password: chosen, generated } = await readNewPassword(options, escaped`Password of ${username}`);
    const input = { username, password: chosen, isAdministrator: options.administrator };
    const details = await changeUser(connection, 'createUser', input);
    const role = details.isAdministrator ? ', an administrator' : '';
    return withPassword(details, escaped`Created ${details.username}${role}.`, generated);
  },
});

async function createService(connection: ApiConnection, username: string, isAdministrator: boolean) {
  const input = { kind: 'SERVICE', username, isAdministrator };
  const data = await changeUser(connection, 'createUser', input);
  return { data, text: escaped`Created the service account ${data.username}.` };
}

const convertToService = apiCommand({
  about: 'Convert a user to a service account, which keeps its groups and grants',
  words: [userWord],
  options: { yes: yesOption },
  details: `For administrators. Deletes the password and everything else with which the user can log in, and ends the sessions. Create an
API key for the program first, with 'espalier key create' as this user, or afterwards with --user.`,
  examples: ['espalier user convert-to-service robot'],
  async run(connection, { words: [reference], options }) {
    const { id: userId, username } = await findUser(connection, reference!);
    await confirm(escaped`Convert ${username} to a service account that cannot log in`, options.yes);
    const data = await changeUser(connection, 'convertToServiceAccount', { userId });
    return { data, text: escaped`${data.username} is a service account and can no longer log in.` };
  },
});

const rename = apiCommand({
  about: 'Rename a user',
  words: [
    userWord,
    {
      ...nameWord,
      name: 'new-name',
      about: 'The new name: 1 to 128 characters, unique without regard to case',
    },
  ],
  details: 'For administrators. The user keeps sessions, groups and grants.',
  examples: ['espalier user rename anna anna.berg'],
  async run(connection, { words: [reference, username] }) {
    const before = await findUser(connection, reference!);
    const data = await changeUser(connection, 'updateUser', { id: before.id, username });
    return { data, text: escaped`Renamed ${before.username} to ${data.username}.` };
  },
});

interface Change extends Pick<Command, 'about' | 'details' | 'examples'> {
  readonly changes: { readonly isAdministrator: boolean } | { readonly isDisabled: boolean };
  /** Completes a sentence that starts with the name of the user. */
  readonly result: string;
}

/** A command that changes one property of a user. */
function change({ changes, result, details = '', ...definition }: Change): Command {
  return apiCommand({
    ...definition,
    words: [userWord],
    details: `For administrators. ${details}`,
    async run(connection, { words: [reference] }) {
      const { id } = await findUser(connection, reference!);
      const data = await changeUser(connection, 'updateUser', { id, ...changes });
      return { data, text: escaped`${data.username} ${result}` };
    },
  });
}

const disable = change({
  changes: { isDisabled: true },
  about: 'Disable a user, and keep groups and grants',
  details:
    'All sessions of the user end, and API keys of the user stop working. You cannot disable yourself.',
  examples: ['espalier user disable anna'],
  result: 'is disabled. All sessions have ended, and the user can neither log in nor use API keys.',
});

const enable = change({
  changes: { isDisabled: false },
  about: 'Enable a disabled user',
  examples: ['espalier user enable anna'],
  result: 'is enabled. The API keys of the user work again.',
});

const promote = change({
  changes: { isAdministrator: true },
  about: 'Make a user an administrator',
  details: 'Administrators have full access, regardless of grants.',
  examples: ['espalier user promote anna'],
  result: 'is an administrator.',
});

const demote = change({
  changes: { isAdministrator: false },
  about: 'Make an administrator a regular user',
  details: 'You cannot demote yourself, so there is always an administrator.',
  examples: ['espalier user demote anna'],
  result: 'is no longer an administrator. Grants now determine the access.',
});

const remove = apiCommand({
  about: 'Delete a user',
  aliases: ['rm'],
  words: [userWord],
  options: { yes: yesOption },
  details: `For administrators. Also deletes the user's sessions, API keys, memberships and grants. To keep memberships and grants, run
'espalier user disable' instead. You cannot delete yourself.`,
  examples: ['espalier user delete anna', 'espalier user delete anna --yes'],
  async run(connection, { words: [reference], options }) {
    const { id, username } = await findUser(connection, reference!);
    const question = escaped`Delete the user ${username} with sessions, API keys, memberships and grants`;
    await confirm(question, options.yes);
    const data = await mutate<object>(connection, 'deleteUser', { id }, 'deletedUserId');
    return { data, text: escaped`Deleted ${username}.` };
  },
});

export const user: Group = {
  examples: [
    'espalier user create anna --generate',
    'espalier user create robot --service          # for a program, which uses API keys',
    'espalier user promote anna',
    'espalier user password                        # change your own password',
    'espalier user password anna --generate        # set the password of another user',
    'espalier user password admin --on-database    # replace a lost password',
  ],
  commands: {
    list,
    show,
    create,
    'convert-to-service': convertToService,
    rename,
    password,
    'reset-second-factor': resetSecondFactor,
    disable,
    enable,
    promote,
    demote,
    delete: remove,
  },
};
