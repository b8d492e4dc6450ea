/** `espalier group ls`: lists the groups. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson, table } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { everyItem, pageInfo, type Page } from '../api/pages.ts';
import { toMinute } from '../terminal/format-time.ts';

interface GroupDetails {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

const query = `query ($text: String, $first: Int, $after: String) {
  groups(text: $text, first: $first, after: $after) { items { id name createdAt } ${pageInfo} }
}`;

export const listGroups = command({
  options: { text: { value: 'text', about: 'List only names that contain this text, in any case' }, json },
  settings: connectionSettings,
  details: 'For administrators and users who manage a folder.',
  async run({ options: { text, json: isJson }, flags }) {
    await withConnection({ flags }, async ({ client, signal }) => {
      const groups = await everyItem(async (slice) => {
        const variables = { text, ...slice };
        return (await client.query<{ groups: Page<GroupDetails> }>(query, variables, { signal })).groups;
      });
      const rows = groups.map(({ name, createdAt }) => [escapeControls(name), toMinute(createdAt)]);
      await (isJson ? printJson(groups) : print(table(['Name', 'Since (UTC)'], rows, 'No groups found.')));
    });
  },
});
