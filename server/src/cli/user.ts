/** `espalier user`: the users of the server. */

import { apiCommand } from './api/connection.ts';
import { everyItem, halving, itemsOf, noItems, pageInfo, type Page } from './api/pages.ts';
import { findUser, userWord, type ApiConnection, type NamedUser } from './api/resolve-names.ts';
import { json, type Command, type Group } from './command.ts';
import { password } from './password.ts';
import { escapeControls, facts, table, toMinute } from './terminal/output.ts';
import { confirm, newPasswordOptions, readNewPassword, withPassword, yes } from './terminal/prompts.ts';

interface UserDetails extends NamedUser {
  readonly isAdministrator: boolean;
  readonly isDisabled: boolean;
  readonly createdAt: string;
  readonly lastLoginAt: string | null;
  readonly groups: readonly { readonly name: string }[];
}

type GroupPage = Page<{ readonly name: string }>;

/** A user with the first page of their groups. */
type ReadUser = Omit<UserDetails, 'groups'> & { readonly groups: GroupPage };

const groupFields = `items { name } ${pageInfo}`;
const userFields = `id username isAdministrator isDisabled createdAt lastLoginAt groups { ${groupFields} }`;

/** Reads the remaining pages of the groups. */
async function withAllGroups(
  { client, signal }: ApiConnection,
  { groups: start, ...details }: ReadUser,
): Promise<UserDetails> {
  const query = `query ($id: ID!, $first: Int, $after: String) {
    user(id: $id) { groups(first: $first, after: $after) { ${groupFields} } }
  }`;
  const groups = await everyItem<{ readonly name: string }>(async (slice) => {
    if (slice.after === null) return start;
    type Answer = { user: { groups: GroupPage } | null };
    const answer = await client.query<Answer>(query, { id: details.id, ...slice }, { signal });
    return answer.user?.groups ?? noItems;
  });
  return { ...details, groups };
}

const list = apiCommand({
  about: 'List the users',
  aliases: ['ls'],
  options: { text: { value: 'text', about: 'List only names that contain this text, in any case' }, json },
  details: 'For administrators.',
  examples: ['espalier user list', 'espalier user list --text ann --json'],
  async run(connection, { options: { text } }) {
    const { client, signal } = connection;
    const query = `query ($text: String, $first: Int, $after: String) {
      users(text: $text, first: $first, after: $after) { items { ${userFields} } ${pageInfo} }
    }`;
    const read = halving<ReadUser>(async (slice) => {
      const answer = await client.query<{ users: Page<ReadUser> }>(query, { text, ...slice }, { signal });
      return answer.users;
    });
    const users: UserDetails[] = [];
    for await (const each of itemsOf(read)) users.push(await withAllGroups(connection, each));
    return { data: users, text: () => formatList(users) };
  },
});

function formatList(users: readonly UserDetails[]): string {
  const rows = users.map((each) => [
    escapeControls(each.username),
    each.isAdministrator ? 'administrator' : '',
    each.isDisabled ? 'disabled' : 'enabled',
    toMinute(each.lastLoginAt),
    groupsOf(each),
  ]);
  return table(['Name', 'Role', 'State', 'Last login (UTC)', 'Groups'], rows, 'No users found.');
}

function groupsOf({ groups }: UserDetails): string {
  return groups.map(({ name }) => escapeControls(name)).join(', ');
}

const show = apiCommand({
  about: 'Show a user',
  words: [userWord],
  options: { json },
  details:
    'Users can show themselves, administrators all users. For the sessions of a user, run espalier session list --user.',
  examples: ['espalier user show anna'],
  async run(connection, { words: [reference] }) {
    const { client, signal } = connection;
    const { id } = await findUser(connection, reference!);
    const query = `query ($id: ID!) { user(id: $id) { ${userFields} } }`;
    const answer = await client.query<{ user: ReadUser }>(query, { id }, { signal });
    const details = await withAllGroups(connection, answer.user);
    const text = facts([
      ['Name', escapeControls(details.username)],
      ['Id', details.id],
      ['Role', details.isAdministrator ? 'administrator' : 'user'],
      ['State', details.isDisabled ? 'disabled' : 'enabled'],
      ['Created', `${toMinute(details.createdAt)} UTC`],
      ['Last login', details.lastLoginAt === null ? 'never' : `${toMinute(details.lastLoginAt)} UTC`],
      ['Groups', groupsOf(details)],
    ]);
    return { data: details, text };
  },
});

const nameWord = { name: 'name', about: '1 to 128 characters; unique without regard to case' };

const create = apiCommand({
  about: 'Create a user',
  aliases: ['add'],
  words: [nameWord],
  options: {
    administrator: { about: 'Make the user an administrator with full access' },
    ...newPasswordOptions,
    json,
  },
  details: `For administrators. Asks for the password twice, unless an option provides it.
A password must have 8 to 128 characters and must not be the user name or a common password.`,
  examples: [
    'espalier user create anna --generate',
    'espalier user create robot --password-file /run/secrets/robot',
  ],
  async run(connection, { words: [username], options }) {
    const { client, signal } = connection;
    const prompt = `Password of ${escapeControls(username!)}`;
    const { password: chosen, generated } = await readNewPassword(options, prompt);
    const input = { username, password: chosen, isAdministrator: options.administrator };
    const mutation = `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { ${userFields} } } }`;
    type Payload = { createUser: { user: ReadUser } };
    const { createUser } = await client.mutate<Payload>(mutation, { input }, { signal });
    const details = await withAllGroups(connection, createUser.user);
    const role = details.isAdministrator ? ', an administrator' : '';
    return withPassword(details, `Created ${escapeControls(details.username)}${role}.`, generated);
  },
});

interface UserChanges {
  readonly username?: string;
  readonly isAdministrator?: boolean;
  readonly isDisabled?: boolean;
}

async function update(
  connection: ApiConnection,
  { id }: NamedUser,
  changes: UserChanges,
): Promise<UserDetails> {
  const { client, signal } = connection;
  const mutation = `mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { ${userFields} } } }`;
  type Payload = { updateUser: { user: ReadUser } };
  const { updateUser } = await client.mutate<Payload>(mutation, { input: { id, ...changes } }, { signal });
  return withAllGroups(connection, updateUser.user);
}

const rename = apiCommand({
  about: 'Rename a user',
  words: [userWord, { ...nameWord, name: 'new-name' }],
  options: { json },
  details: 'For administrators. The user keeps sessions, groups and grants.',
  examples: ['espalier user rename anna anna.berg'],
  async run(connection, { words: [reference, username] }) {
    const before = await findUser(connection, reference!);
    const renamed = await update(connection, before, { username: username! });
    const [oldName, newName] = [before, renamed].map((each) => escapeControls(each.username));
    return { data: renamed, text: `Renamed ${oldName} to ${newName}.` };
  },
});

/** A command that changes one property of a user. */
function change(
  changes: UserChanges,
  texts: Pick<Command, 'about' | 'examples' | 'details'> & {
    readonly formatResult: (name: string) => string;
  },
): Command {
  const { formatResult, details = '', ...definition } = texts;
  return apiCommand({
    ...definition,
    words: [userWord],
    options: { json },
    details: `For administrators. ${details}`,
    async run(connection, { words: [reference] }) {
      const changed = await update(connection, await findUser(connection, reference!), changes);
      return { data: changed, text: formatResult(escapeControls(changed.username)) };
    },
  });
}

const disable = change(
  { isDisabled: true },
  {
    about: 'Disable a user, who keeps groups and grants',
    details: 'All sessions of the user end. You cannot disable yourself.',
    examples: ['espalier user disable anna'],
    formatResult: (name) => `${name} is disabled. All sessions have ended, and the user cannot log in.`,
  },
);

const enable = change(
  { isDisabled: false },
  {
    about: 'Enable a disabled user',
    examples: ['espalier user enable anna'],
    formatResult: (name) => `${name} is enabled and can log in.`,
  },
);

const promote = change(
  { isAdministrator: true },
  {
    about: 'Make a user an administrator',
    details: 'Administrators have full access, regardless of grants.',
    examples: ['espalier user promote anna'],
    formatResult: (name) => `${name} is an administrator.`,
  },
);

const demote = change(
  { isAdministrator: false },
  {
    about: 'Make an administrator a regular user',
    details: 'You cannot demote yourself, so there is always an administrator.',
    examples: ['espalier user demote anna'],
    formatResult: (name) => `${name} is no longer an administrator. Grants now determine the access.`,
  },
);

const remove = apiCommand({
  about: 'Delete a user',
  aliases: ['rm'],
  words: [userWord],
  options: { yes, json },
  details: `For administrators. Also deletes the user's sessions, memberships and grants. To keep memberships and grants, run espalier
user disable instead. You cannot delete yourself.`,
  examples: ['espalier user delete anna', 'espalier user delete anna --yes'],
  async run(connection, { words: [reference], options }) {
    const { client, signal } = connection;
    const { id, username } = await findUser(connection, reference!);
    const name = escapeControls(username);
    await confirm(`Delete the user ${name} with sessions, memberships and grants`, options.yes);
    const mutation = `mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { deletedUserId } }`;
    await client.mutate(mutation, { input: { id } }, { signal });
    return { data: { deletedUserId: id }, text: `Deleted ${name}.` };
  },
});

export const user: Group = {
  commands: { list, show, create, rename, password, disable, enable, promote, demote, delete: remove },
};
