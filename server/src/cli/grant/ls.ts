/** `espalier grant ls`: who was given access to a folder. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, escapeControls, table } from '../output.ts';
import { everyItem } from '../pages.ts';
import { findFolder, folderWord } from '../resolve-names.ts';
import { toMinute } from '../format-time.ts';
import { grantReader, subjectOf } from './grant-details.ts';

export const listGrants = command({
  words: [folderWord],
  options: { inherited: { about: 'Those on the folders above, too, the nearest first' }, json },
  settings: connectionSettings,
  details: 'Of a folder that you manage, all grants; of others, those to you and your groups.',
  async run({ words: [reference], options: { inherited, json: isJson }, flags }) {
    await withConnection({ flags }, async (asking) => {
      const folder = await findFolder(asking, reference!);
      const grants = await everyItem(grantReader(asking, folder, inherited));
      const rows = grants.map((grant) => [
        escapeControls(grant.folder.path),
        subjectOf(grant),
        grant.level,
        toMinute(grant.grantedAt),
      ]);
      const none = `No grants found.${inherited ? '' : ' With --inherited, those on the folders above are shown, too.'}`;
      await (isJson ? printJson(grants) : print(table(['Folder', 'To', 'Level', 'Since (UTC)'], rows, none)));
    });
  },
});
