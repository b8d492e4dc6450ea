/** `espalier grant set`: gives a user or a group a level on a folder and all that is inside. */

import { UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, escapeControls } from '../output.ts';
import { findFolder, folderWord } from '../resolve-names.ts';
import { findSubject, requireOneSubject, subjectOptions } from './grant-details.ts';

const levels = ['read', 'write', 'manage', 'none'] as const;
const mutation = `mutation ($input: GrantAccessInput!) { grantAccess(input: $input) { cursor } }`;

export const setGrant = command({
  words: [folderWord, { name: 'level', about: 'read, write, manage or none', completes: levels }],
  options: { ...subjectOptions, json },
  settings: connectionSettings,
  details: `Needs MANAGE on the folder. Replaces what the user or group was granted on this very folder. It holds for all that
is inside, until a deeper grant says otherwise; none closes what would be inherited.`,
  async run({ words: [reference, word], options, flags }) {
    const level = toLevel(word!);
    requireOneSubject(options);
    await withConnection({ flags }, async (asking) => {
      const folder = await findFolder(asking, reference!);
      const subject = await findSubject(asking, options);
      const input = { folderId: folder.id, level, ...subject.input };
      await asking.client.mutate(mutation, { input }, { signal: asking.signal });
      await (options.json
        ? printJson({ folder, level, ...subject.input })
        : print(`Granted ${level} on ${escapeControls(folder.path)} to ${subject.name}.`));
    });
  },
});

function toLevel(word: string): string {
  const level = levels.find((each) => each === word.toLowerCase());
  if (!level)
    throw new UsageError(`A level is ${levels.slice(0, -1).join(', ')} or ${levels.at(-1)}, not ${word}.`);
  return level.toUpperCase();
}
