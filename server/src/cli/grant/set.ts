/** `espalier grant set`: grants a user or a group a level on a folder and its contents. */

import { UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { findFolderReference, folderWord } from '../api/resolve-names.ts';
import { findSubject, requireOneSubject, subjectOptions } from './grant-details.ts';

const levels = ['read', 'write', 'manage', 'none'] as const;
const mutation = `mutation ($input: GrantAccessInput!) { grantAccess(input: $input) { cursor } }`;

export const setGrant = command({
  words: [folderWord, { name: 'level', about: 'read, write, manage or none', completes: levels }],
  options: { ...subjectOptions, json },
  settings: connectionSettings,
  details: `Requires MANAGE on the folder. Replaces an earlier grant to the user or group on this folder. A grant applies to the folder
and its contents, unless a deeper grant overrides it. The level none blocks inherited access.`,
  async run({ words: [reference, word], options, flags }) {
    const level = toLevel(word!);
    requireOneSubject(options);
    await withConnection({ flags }, async (connection) => {
      const folder = await findFolderReference(connection, reference!);
      const subject = await findSubject(connection, options);
      const input = { folderId: folder.id, level, ...subject.input };
      await connection.client.mutate(mutation, { input }, { signal: connection.signal });
      await (options.json
        ? printJson({ folder, level, ...subject.input })
        : print(`Granted ${level} on ${escapeControls(folder.path)} to ${subject.name}.`));
    });
  },
});

function toLevel(word: string): string {
  const level = levels.find((each) => each === word.toLowerCase());
  if (!level)
    throw new UsageError(
      `The level must be ${levels.slice(0, -1).join(', ')} or ${levels.at(-1)}, not ${word}.`,
    );
  return level.toUpperCase();
}
