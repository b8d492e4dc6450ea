/** `espalier grant rm`: removes a grant. Inherited access applies again. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, escapeControls } from '../output.ts';
import { findFolder, folderWord } from '../resolve-names.ts';
import { findSubject, requireOneSubject, subjectOptions } from './grant-details.ts';

const mutation = `mutation ($input: RevokeAccessInput!) { revokeAccess(input: $input) { cursor } }`;

export const removeGrant = command({
  words: [folderWord],
  options: { ...subjectOptions, json },
  settings: connectionSettings,
  details: 'Needs MANAGE on the folder. To close what comes from above, espalier grant set the level none.',
  async run({ words: [reference], options, flags }) {
    requireOneSubject(options);
    await withConnection({ flags }, async (asking) => {
      const folder = await findFolder(asking, reference!);
      const subject = await findSubject(asking, options);
      const input = { folderId: folder.id, ...subject.input };
      await asking.client.mutate(mutation, { input }, { signal: asking.signal });
      await (options.json
        ? printJson({ folder, ...subject.input })
        : print(
            `Took the grant on ${escapeControls(folder.path)} from ${subject.name}; what comes from above holds.`,
          ));
    });
  },
});
