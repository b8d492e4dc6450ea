/** `espalier group ls`: which groups there are. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, escapeControls, table } from '../output.ts';
import { everyItem, pageInfo, type Page } from '../pages.ts';
import { toMinute } from '../format-time.ts';

interface GroupDetails {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

const query = `query ($text: String, $first: Int, $after: String) {
  groups(text: $text, first: $first, after: $after) { items { id name createdAt } ${pageInfo} }
}`;

export const listGroups = command({
  options: { text: { value: 'text', about: 'Only those whose name holds it, in any case' }, json },
  settings: connectionSettings,
  details: 'For administrators and whoever manages a folder.',
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
