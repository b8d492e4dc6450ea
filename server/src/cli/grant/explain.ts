/** `espalier explain`: explains the access of a user to a folder. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { facts } from '../terminal/format-fields.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import {
  findFolderReference,
  findUser,
  folderWord,
  userWord,
  type NamedFolder,
  type NamedUser,
} from '../api/resolve-names.ts';
import { toMinute } from '../terminal/format-time.ts';
import { grantFields, subjectOf, type GrantDetails } from './grant-details.ts';

interface Explanation {
  readonly user: NamedUser;
  readonly folder: NamedFolder;
  readonly level: string;
  readonly isPassage: boolean | null;
  readonly reason: string;
  readonly grant: GrantDetails | null;
}

const query = `query ($userId: ID!, $folderId: ID!) {
  explainAccess(userId: $userId, folderId: $folderId) {
    user { id username } folder { id path } level isPassage reason grant { ${grantFields} }
  }
}`;

export const explain = command({
  words: [userWord, folderWord],
  options: { json },
  settings: connectionSettings,
  details:
    'Users can explain their own access. Administrators and users who manage the folder can explain the access of all users.',
  async run({ words: [who, where], options, flags }) {
    await withConnection({ flags }, async (connection) => {
      const { client, signal } = connection;
      const { id: userId } = await findUser(connection, who!);
      const { id: folderId } = await findFolderReference(connection, where!);
      const { explainAccess: explanation } = await client.query<{ explainAccess: Explanation }>(
        query,
        { userId, folderId },
        { signal },
      );
      await (options.json ? printJson(explanation) : print(inWords(explanation)));
    });
  },
});

function inWords({ user, folder, level, grant, reason }: Explanation): string {
  const deciding = grant
    ? `${grant.level} to ${subjectOf(grant)} on ${escapeControls(grant.folder.path)}, since ${toMinute(grant.grantedAt)} UTC`
    : 'none';
  return facts([
    ['User', escapeControls(user.username)],
    ['Folder', escapeControls(folder.path)],
    ['Level', level],
    ['Why', escapeControls(reason)],
    ['Grant', deciding],
  ]);
}
