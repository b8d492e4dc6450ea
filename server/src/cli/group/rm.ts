/** `espalier group rm`: deletes a group, but not the users in it. */

import { command, json } from '../command.ts';
import { confirm, yes } from '../terminal/confirmation.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { findGroup, groupWord } from '../api/resolve-names.ts';

const mutation = `mutation ($input: DeleteGroupInput!) { deleteGroup(input: $input) { deletedGroupId } }`;

export const removeGroup = command({
  words: [groupWord],
  options: { yes, json },
  settings: connectionSettings,
  details: 'For administrators. Also deletes the grants of the group, but not the users in it.',
  async run({ words: [reference], options, flags }) {
    await withConnection({ flags }, async (connection) => {
      const { id, name } = await findGroup(connection, reference!);
      await confirm(`Delete the group ${escapeControls(name)} with its grants`, options.yes);
      await connection.client.mutate(mutation, { input: { id } }, { signal: connection.signal });
      await (options.json
        ? printJson({ deletedGroupId: id })
        : print(`Deleted the group ${escapeControls(name)}.`));
    });
  },
});
