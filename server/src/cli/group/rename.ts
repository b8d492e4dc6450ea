/** `espalier group rename`: renames a group. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { findGroup, groupWord, type NamedGroup } from '../api/resolve-names.ts';

interface Payload {
  readonly updateGroup: { readonly group: NamedGroup };
}

const mutation = `mutation ($input: UpdateGroupInput!) { updateGroup(input: $input) { group { id name } } }`;

export const renameGroup = command({
  words: [groupWord, { name: 'new-name', about: '1 to 128 characters; unique without regard to case' }],
  options: { json },
  settings: connectionSettings,
  details: 'For administrators. The group keeps its members and grants.',
  async run({ words: [reference, name], options, flags }) {
    await withConnection({ flags }, async (connection) => {
      const before = await findGroup(connection, reference!);
      const input = { id: before.id, name };
      const { group } = (
        await connection.client.mutate<Payload>(mutation, { input }, { signal: connection.signal })
      ).updateGroup;
      const sentence = `Renamed the group ${escapeControls(before.name)} to ${escapeControls(group.name)}.`;
      await (options.json ? printJson(group) : print(sentence));
    });
  },
});
