/** `espalier group`: groups of users. */

import { UsageError } from '../config/start-error.ts';
import { apiCommand } from './api/connection.ts';
import { everyItem, noItems, pageInfo, type Page } from './api/pages.ts';
import {
  findGroup,
  findUsers,
  groupWord,
  userWord,
  type NamedGroup,
  type NamedUser,
} from './api/resolve-names.ts';
import { json, type Command, type Group } from './command.ts';
import { escapeControls, facts, table, toMinute } from './terminal/output.ts';
import { confirm, yes } from './terminal/prompts.ts';

interface GroupDetails extends NamedGroup {
  readonly createdAt: string;
}

const nameWord = { name: 'name', about: '1 to 128 characters; unique without regard to case' };

const listQuery = `query ($text: String, $first: Int, $after: String) {
  groups(text: $text, first: $first, after: $after) { items { id name createdAt } ${pageInfo} }
}`;

const list = apiCommand({
  about: 'List the groups',
  aliases: ['ls'],
  options: { text: { value: 'text', about: 'List only names that contain this text, in any case' }, json },
  details: 'For administrators and users who manage a folder.',
  examples: ['espalier group list', 'espalier group list --text floor --json'],
  async run({ client, signal }, { options: { text } }) {
    const groups = await everyItem(async (slice) => {
      const variables = { text, ...slice };
      return (await client.query<{ groups: Page<GroupDetails> }>(listQuery, variables, { signal })).groups;
    });
    const rows = groups.map(({ name, createdAt }) => [escapeControls(name), toMinute(createdAt)]);
    return { data: groups, text: () => table(['Name', 'Since (UTC)'], rows, 'No groups found.') };
  },
});

const showQuery = `query ($id: ID!, $first: Int, $after: String) {
  group(id: $id) {
    id name createdAt
    members(first: $first, after: $after) { items { id username } ${pageInfo} }
  }
}`;

const show = apiCommand({
  about: 'Show a group with its members',
  words: [groupWord],
  options: { json },
  details: 'For administrators.',
  examples: ['espalier group show gardeners'],
  async run(connection, { words: [reference] }) {
    const { client, signal } = connection;
    const { id, name } = await findGroup(connection, reference!);
    type Answer = { group: (GroupDetails & { members: Page<NamedUser> }) | null };
    let createdAt = '';
    const members = await everyItem(async (slice) => {
      const { group } = await client.query<Answer>(showQuery, { id, ...slice }, { signal });
      createdAt = group?.createdAt ?? createdAt;
      return group?.members ?? noItems;
    });
    const head = facts([
      ['Name', escapeControls(name)],
      ['Id', id],
      ['Created', `${toMinute(createdAt)} UTC`],
      ['Members', String(members.length)],
    ]);
    return {
      data: { id, name, createdAt, members },
      text: [head, ...members.map(({ username }) => `  ${escapeControls(username)}`)].join('\n'),
    };
  },
});

const create = apiCommand({
  about: 'Create a group',
  aliases: ['add'],
  words: [nameWord],
  options: { json },
  details: 'For administrators. To add users to the group, run espalier group join.',
  examples: ['espalier group create gardeners'],
  async run({ client, signal }, { words: [name] }) {
    const mutation = `mutation ($input: CreateGroupInput!) { createGroup(input: $input) { group { id name createdAt } } }`;
    type Payload = { createGroup: { group: GroupDetails } };
    const { createGroup } = await client.mutate<Payload>(mutation, { input: { name } }, { signal });
    return { data: createGroup.group, text: `Created the group ${escapeControls(createGroup.group.name)}.` };
  },
});

const rename = apiCommand({
  about: 'Rename a group',
  words: [groupWord, { ...nameWord, name: 'new-name' }],
  options: { json },
  details: 'For administrators. The group keeps its members and grants.',
  examples: ['espalier group rename gardeners "Garden team"'],
  async run(connection, { words: [reference, name] }) {
    const { client, signal } = connection;
    const before = await findGroup(connection, reference!);
    const mutation = `mutation ($input: UpdateGroupInput!) { updateGroup(input: $input) { group { id name } } }`;
    type Payload = { updateGroup: { group: NamedGroup } };
    const input = { id: before.id, name };
    const { group } = (await client.mutate<Payload>(mutation, { input }, { signal })).updateGroup;
    return {
      data: group,
      text: `Renamed the group ${escapeControls(before.name)} to ${escapeControls(group.name)}.`,
    };
  },
});

/** The maximum that the server accepts in one transaction. */
const maxUsers = 1_000;

/** Adds users to a group or removes them, all of the named users or none. */
function membership(
  field: 'addToGroup' | 'removeFromGroup',
  texts: Pick<Command, 'about' | 'details' | 'examples'> & {
    readonly formatResult: (count: string, group: string) => string;
  },
): Command {
  const { formatResult, ...definition } = texts;
  const counted = field === 'addToGroup' ? 'added' : 'removed';
  const inputType = field === 'addToGroup' ? 'AddToGroupInput' : 'RemoveFromGroupInput';
  const mutation = `mutation ($input: ${inputType}!) { ${field}(input: $input) { count: ${counted} } }`;
  type Payload = Readonly<Record<string, { readonly count: number }>>;
  return apiCommand({
    ...definition,
    words: [groupWord, { ...userWord, isRepeatable: true }],
    options: { json },
    validate({ words: [, ...names] }) {
      if (names.length > maxUsers) throw new UsageError('One command takes at most 1,000 users.');
    },
    async run(connection, { words: [reference, ...names] }) {
      const { client, signal } = connection;
      const group = await findGroup(connection, reference!);
      const users = await findUsers(connection, names);
      const input = { groupId: group.id, userIds: users.map(({ id }) => id) };
      const { count } = (await client.mutate<Payload>(mutation, { input }, { signal }))[field]!;
      const countText = count === 1 ? 'one user' : count === 0 ? 'no users' : `${count} users`;
      return {
        data: { group, users, [counted]: count },
        text: formatResult(countText, escapeControls(group.name)),
      };
    },
  });
}

const join = membership('addToGroup', {
  about: 'Add users to a group',
  details:
    'For administrators. Members stay in the group. If one of the users does not exist, no user is added.',
  examples: ['espalier group join gardeners anna bob'],
  formatResult: (count, group) => `Added to ${group}: ${count}.`,
});

const leave = membership('removeFromGroup', {
  about: 'Remove users from a group',
  details:
    'For administrators. Ignores users who are not in the group. The removed users lose the access of the group at once.',
  examples: ['espalier group leave gardeners bob'],
  formatResult: (count, group) => `Removed from ${group}: ${count}.`,
});

const remove = apiCommand({
  about: 'Delete a group',
  aliases: ['rm'],
  words: [groupWord],
  options: { yes, json },
  details: 'For administrators. Also deletes the grants of the group, but not the users in it.',
  examples: ['espalier group delete gardeners', 'espalier group delete gardeners --yes'],
  async run(connection, { words: [reference], options }) {
    const { client, signal } = connection;
    const { id, name } = await findGroup(connection, reference!);
    await confirm(`Delete the group ${escapeControls(name)} with its grants`, options.yes);
    const mutation = `mutation ($input: DeleteGroupInput!) { deleteGroup(input: $input) { deletedGroupId } }`;
    await client.mutate(mutation, { input: { id } }, { signal });
    return { data: { deletedGroupId: id }, text: `Deleted the group ${escapeControls(name)}.` };
  },
});

export const group: Group = { commands: { list, show, create, rename, join, leave, delete: remove } };
