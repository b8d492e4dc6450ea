/** `espalier group rm`: deletes a group; its members stay users. */

import { command, json } from '../command.ts';
import { confirm, yes } from '../confirmation.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, escapeControls } from '../output.ts';
import { findGroup, groupWord } from '../resolve-names.ts';

const mutation = `mutation ($input: DeleteGroupInput!) { deleteGroup(input: $input) { deletedGroupId } }`;

export const removeGroup = command({
  words: [groupWord],
  options: { yes, json },
  settings: connectionSettings,
  details: 'For administrators. The grants of the group go along; its members stay users.',
  async run({ words: [reference], options, flags }) {
    await withConnection({ flags }, async (asking) => {
      const { id, name } = await findGroup(asking, reference!);
      await confirm(`Delete the group ${escapeControls(name)} with its grants`, options.yes);
      await asking.client.mutate(mutation, { input: { id } }, { signal: asking.signal });
      await (options.json
        ? printJson({ deletedGroupId: id })
        : print(`Deleted the group ${escapeControls(name)}.`));
    });
  },
});
