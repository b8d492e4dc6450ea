/** `espalier grant rm`: removes a grant. Inherited access applies again. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { findFolderReference, folderWord } from '../api/resolve-names.ts';
import { findSubject, requireOneSubject, subjectOptions } from './grant-details.ts';

const mutation = `mutation ($input: RevokeAccessInput!) { revokeAccess(input: $input) { cursor } }`;

export const removeGrant = command({
  words: [folderWord],
  options: { ...subjectOptions, json },
  settings: connectionSettings,
  details:
    'Requires MANAGE on the folder. Inherited access then applies again. To block it, use espalier grant set with the level none.',
  async run({ words: [reference], options, flags }) {
    requireOneSubject(options);
    await withConnection({ flags }, async (connection) => {
      const folder = await findFolderReference(connection, reference!);
      const subject = await findSubject(connection, options);
      const input = { folderId: folder.id, ...subject.input };
      await connection.client.mutate(mutation, { input }, { signal: connection.signal });
      await (options.json
        ? printJson({ folder, ...subject.input })
        : print(
            `Removed the grant on ${escapeControls(folder.path)} from ${subject.name}. Inherited access applies.`,
          ));
    });
  },
});
