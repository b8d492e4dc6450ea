/** `espalier grant ls`: lists the grants on a folder. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson, table } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { everyItem } from '../api/pages.ts';
import { findFolderReference, folderWord } from '../api/resolve-names.ts';
import { toMinute } from '../terminal/format-time.ts';
import { grantReader, subjectOf } from './grant-details.ts';

export const listGrants = command({
  words: [folderWord],
  options: { inherited: { about: 'Include the grants on the folders above, nearest first' }, json },
  settings: connectionSettings,
  details: 'Lists all grants if you manage the folder, otherwise only the grants to you and your groups.',
  async run({ words: [reference], options: { inherited, json: isJson }, flags }) {
    await withConnection({ flags }, async (connection) => {
      const folder = await findFolderReference(connection, reference!);
      const grants = await everyItem(grantReader(connection, folder, inherited));
      const rows = grants.map((grant) => [
        escapeControls(grant.folder.path),
        subjectOf(grant),
        grant.level,
        toMinute(grant.grantedAt),
      ]);
      const none = `No grants found.${inherited ? '' : ' To include the folders above, use --inherited.'}`;
      await (isJson ? printJson(grants) : print(table(['Folder', 'To', 'Level', 'Since (UTC)'], rows, none)));
    });
  },
});
