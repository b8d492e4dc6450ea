/** `espalier group rename`: another name for the same group. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, escapeControls } from '../output.ts';
import { findGroup, groupWord, type NamedGroup } from '../resolve-names.ts';

interface Payload {
  readonly updateGroup: { readonly group: NamedGroup };
}

const mutation = `mutation ($input: UpdateGroupInput!) { updateGroup(input: $input) { group { id name } } }`;

export const renameGroup = command({
  words: [groupWord, { name: 'new-name', about: '1 to 128 characters; free in any case of its letters' }],
  options: { json },
  settings: connectionSettings,
  details: 'For administrators. Members and grants stay.',
  async run({ words: [reference, name], options, flags }) {
    await withConnection({ flags }, async (asking) => {
      const before = await findGroup(asking, reference!);
      const input = { id: before.id, name };
      const { group } = (await asking.client.mutate<Payload>(mutation, { input }, { signal: asking.signal }))
        .updateGroup;
      const sentence = `The group ${escapeControls(before.name)} is called ${escapeControls(group.name)} now.`;
      await (options.json ? printJson(group) : print(sentence));
    });
  },
});
