/** `espalier grant ls`: who was given access to a folder. */

import { EspalierError } from '@espalier/client';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, shown, table } from '../output.ts';
import { findFolder, folderWord } from '../references.ts';
import { toMinute } from '../shown-time.ts';
import { grantFields, subjectOf, type GrantDetails } from './grant-details.ts';

interface Answer {
  readonly folder: { readonly access: readonly GrantDetails[] } | null;
}

const query = `query ($id: ID!, $inherited: Boolean!) {
  folder(id: $id) { access(inherited: $inherited) { ${grantFields} } }
}`;

export const listGrants = command({
  words: [folderWord],
  options: { inherited: { about: 'Those on the folders above, too, the nearest first' }, json },
  settings: connectionSettings,
  details: 'Of a folder that you manage, all grants; of others, those to you and your groups.',
  async run({ words: [reference], options: { inherited, json: isJson }, flags }) {
    await withConnection({ flags }, async (asking) => {
      const { client, signal } = asking;
      const { id, path } = await findFolder(asking, reference!);
      const { folder } = await client.query<Answer>(query, { id, inherited }, { signal });
      if (!folder) throw new EspalierError('NOT_FOUND', `The folder ${shown(path)} is gone.`);
      const rows = folder.access.map((grant) => [
        shown(grant.folder.path),
        subjectOf(grant),
        grant.level,
        toMinute(grant.grantedAt),
      ]);
      const none = `No grants found.${inherited ? '' : ' With --inherited, those on the folders above are shown, too.'}`;
      await (isJson
        ? printJson(folder.access)
        : print(table(['Folder', 'To', 'Level', 'Since (UTC)'], rows, none)));
    });
  },
});
