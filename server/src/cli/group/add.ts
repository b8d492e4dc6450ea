/** `espalier group add`: adds a group. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import type { NamedGroup } from '../api/resolve-names.ts';

interface Payload {
  readonly createGroup: { readonly group: NamedGroup & { readonly createdAt: string } };
}

const mutation = `mutation ($input: CreateGroupInput!) { createGroup(input: $input) { group { id name createdAt } } }`;

export const addGroup = command({
  words: [{ name: 'name', about: '1 to 128 characters; unique without regard to case' }],
  options: { json },
  settings: connectionSettings,
  details: 'For administrators. To add users to the group, run espalier group join.',
  async run({ words: [name], options, flags }) {
    await withConnection({ flags }, async ({ client, signal }) => {
      const { group } = (await client.mutate<Payload>(mutation, { input: { name } }, { signal })).createGroup;
      await (options.json ? printJson(group) : print(`Added the group ${escapeControls(group.name)}.`));
    });
  },
});
