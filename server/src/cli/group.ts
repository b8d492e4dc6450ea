/** `espalier group`: groups of users. */

import { UsageError } from '../config/start-error.ts';
import { apiCommand } from './api/connection.ts';
import { everyItem, listReader, pageInfo } from './api/pages.ts';
import {
  findGroup,
  findUsers,
  groupWord,
  mutate,
  userWord,
  type NamedGroup,
  type NamedUser,
} from './api/resolve-names.ts';
import type { Command, Group } from './command.ts';
import { escaped, formatFacts, formatTable, toMinute } from './terminal/output.ts';
import { confirm, yesOption } from './terminal/prompts.ts';

interface GroupDetails extends NamedGroup {
  readonly createdAt: string;
}

const nameWord = { name: 'name', about: 'The name: 1 to 128 characters, unique without regard to case' };

const list = apiCommand({
  about: 'List the groups',
  aliases: ['ls'],
  options: { text: { value: 'text', about: 'List only names that contain this text; ignores case' } },
  details: 'For administrators and users who manage a folder.',
  examples: ['espalier group list', 'espalier group list --text floor --json'],
  async run(connection, { options: { text } }) {
    const query = `query ($text: String, $first: Int, $after: String) {
      list: groups(text: $text, first: $first, after: $after) { items { id name createdAt } ${pageInfo} }
    }`;
    const groups = await everyItem(listReader<GroupDetails>(connection, query, { text }));
    const rows = groups.map(({ name, createdAt }) => [name, toMinute(createdAt)]);
    return { data: groups, text: () => formatTable(['Name', 'Since (UTC)'], rows, 'No groups found.') };
  },
});

const show = apiCommand({
  about: 'Show a group with its members',
  words: [groupWord],
  details: 'For administrators.',
  examples: ['espalier group show gardeners'],
  async run(connection, { words: [reference] }) {
    const { client, signal } = connection;
    const { id } = await findGroup(connection, reference!);
    type Answer = { group: GroupDetails };
    const query = 'query ($id: ID!) { group(id: $id) { id name createdAt } }';
    const { group: details } = await client.query<Answer>(query, { id }, { signal });
    const memberQuery = `query ($id: ID!, $first: Int, $after: String) {
      of: group(id: $id) { list: members(first: $first, after: $after) { items { id username } ${pageInfo} } }
    }`;
    const members = await everyItem(listReader<NamedUser>(connection, memberQuery, { id }));
    const head = formatFacts([
      ['Name', details.name],
      ['Id', id],
      ['Created', `${toMinute(details.createdAt)} UTC`],
      ['Members', String(members.length)],
    ]);
    return {
      data: { ...details, members },
      text: [head, ...members.map(({ username }) => escaped`  ${username}`)].join('\n'),
    };
  },
});

const create = apiCommand({
  about: 'Create a group',
  aliases: ['add'],
  words: [nameWord],
  details: "For administrators. To add users to the group, run 'espalier group join'.",
  examples: ['espalier group create gardeners'],
  async run(connection, { words: [name] }) {
    type Payload = { group: GroupDetails };
    const fields = 'group { id name createdAt }';
    const { group: created } = await mutate<Payload>(connection, 'createGroup', { name }, fields);
    return { data: created, text: escaped`Created the group ${created.name}.` };
  },
});

const rename = apiCommand({
  about: 'Rename a group',
  words: [
    groupWord,
    {
      ...nameWord,
      name: 'new-name',
      about: 'The new name: 1 to 128 characters, unique without regard to case',
    },
  ],
  details: 'For administrators. The group keeps its members and grants.',
  examples: ['espalier group rename gardeners "Garden team"'],
  async run(connection, { words: [reference, name] }) {
    const before = await findGroup(connection, reference!);
    type Payload = { group: NamedGroup };
    const input = { id: before.id, name };
    const { group: renamed } = await mutate<Payload>(connection, 'updateGroup', input, 'group { id name }');
    return { data: renamed, text: escaped`Renamed the group ${before.name} to ${renamed.name}.` };
  },
});

/** The maximum that the server accepts in one transaction. */
const maxUsers = 1_000;

interface Membership extends Pick<Command, 'about' | 'details' | 'examples'> {
  readonly mutation: 'addToGroup' | 'removeFromGroup';
  /** The field with the number of users, and the result in the printed sentence. */
  readonly counted: 'added' | 'removed';
  readonly result: string;
}

/** Adds users to a group or removes them, all of the named users or none. */
function membership({ mutation, counted, result, ...definition }: Membership): Command {
  return apiCommand({
    ...definition,
    words: [groupWord, { ...userWord, isRepeatable: true }],
    validate({ words: [, ...names] }) {
      if (names.length > maxUsers) throw new UsageError('One command takes at most 1,000 users.');
    },
    async run(connection, { words: [reference, ...names] }) {
      const group = await findGroup(connection, reference!);
      const users = await findUsers(connection, names);
      const input = { groupId: group.id, userIds: users.map(({ id }) => id) };
      const done = await mutate<Record<typeof counted, number>>(connection, mutation, input, counted);
      const count = done[counted];
      const countText = count === 1 ? 'one user' : count === 0 ? 'no users' : `${count} users`;
      return { data: { group, users, ...done }, text: escaped`${result} ${group.name}: ${countText}.` };
    },
  });
}

const join = membership({
  mutation: 'addToGroup',
  counted: 'added',
  about: 'Add users to a group',
  details:
    'For administrators. Ignores users who are members already. If one of the users does not exist, no user is added.',
  examples: ['espalier group join gardeners anna bob'],
  result: 'Added to',
});

const leave = membership({
  mutation: 'removeFromGroup',
  counted: 'removed',
  about: 'Remove users from a group',
  details:
    'For administrators. Ignores users who are not in the group. The removed users lose the access of the group at once.',
  examples: ['espalier group leave gardeners bob'],
  result: 'Removed from',
});

const remove = apiCommand({
  about: 'Delete a group',
  aliases: ['rm'],
  words: [groupWord],
  options: { yes: yesOption },
  details: 'For administrators. Also deletes the grants of the group, but not the users in it.',
  examples: ['espalier group delete gardeners', 'espalier group delete gardeners --yes'],
  async run(connection, { words: [reference], options }) {
    const { id, name } = await findGroup(connection, reference!);
    await confirm(escaped`Delete the group ${name} with its grants`, options.yes);
    const data = await mutate<object>(connection, 'deleteGroup', { id }, 'deletedGroupId');
    return { data, text: escaped`Deleted the group ${name}.` };
  },
});

export const group: Group = {
  examples: [
    'espalier group create gardeners',
    'espalier group join gardeners anna bob',
    'espalier grant create /Places write --group gardeners',
  ],
  commands: { list, show, create, rename, join, leave, delete: remove },
};
