/** `espalier group show`: shows a group with its members. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { facts } from '../terminal/format-fields.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { everyItem, pageInfo, type Page } from '../api/pages.ts';
import { findGroup, groupWord, type NamedUser } from '../api/resolve-names.ts';
import { toMinute } from '../terminal/format-time.ts';

interface Answer {
  readonly group: {
    readonly id: string;
    readonly name: string;
    readonly createdAt: string;
    readonly members: Page<NamedUser>;
  } | null;
}

const query = `query ($id: ID!, $first: Int, $after: String) {
  group(id: $id) {
    id name createdAt
    members(first: $first, after: $after) { items { id username } ${pageInfo} }
  }
}`;
const noMembers: Page<NamedUser> = { items: [], pageInfo: { hasNextPage: false, endCursor: null } };

export const showGroup = command({
  words: [groupWord],
  options: { json },
  settings: connectionSettings,
  details: 'For administrators.',
  async run({ words: [reference], options, flags }) {
    await withConnection({ flags }, async (connection) => {
      const { client, signal } = connection;
      const { id, name } = await findGroup(connection, reference!);
      let createdAt = '';
      const members = await everyItem(async (slice) => {
        const { group } = await client.query<Answer>(query, { id, ...slice }, { signal });
        createdAt = group?.createdAt ?? createdAt;
        return group?.members ?? noMembers;
      });
      if (options.json) {
        await printJson({ id, name, createdAt, members });
        return;
      }
      const head = facts([
        ['Name', escapeControls(name)],
        ['Id', id],
        ['Created', `${toMinute(createdAt)} UTC`],
        ['Members', String(members.length)],
      ]);
      await print([head, ...members.map(({ username }) => `  ${escapeControls(username)}`)].join('\n'));
    });
  },
});
