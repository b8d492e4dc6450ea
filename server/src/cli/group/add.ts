/** `espalier group add`: a new group. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, escapeControls } from '../output.ts';
import type { NamedGroup } from '../resolve-names.ts';

interface Payload {
  readonly createGroup: { readonly group: NamedGroup & { readonly createdAt: string } };
}

const mutation = `mutation ($input: CreateGroupInput!) { createGroup(input: $input) { group { id name createdAt } } }`;

export const addGroup = command({
  words: [{ name: 'name', about: '1 to 128 characters; free in any case of its letters' }],
  options: { json },
  settings: connectionSettings,
  details: 'For administrators. espalier group join puts users into it.',
  async run({ words: [name], options, flags }) {
    await withConnection({ flags }, async ({ client, signal }) => {
      const { group } = (await client.mutate<Payload>(mutation, { input: { name } }, { signal })).createGroup;
      await (options.json ? printJson(group) : print(`Added the group ${escapeControls(group.name)}.`));
    });
  },
});
