/** The commands that add users to a group or remove them, all of the named users or none. */

import { UsageError } from '../../config/start-error.ts';
import { command, json, type Command } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { findGroup, findUsers, groupWord, userWord } from '../api/resolve-names.ts';

type Payload = Readonly<Record<string, { readonly count: number }>>;

/** The maximum that the server accepts in one transaction. */
const maxPerRequest = 1_000;

export function membership({
  field,
  counted,
  formatResult,
  details,
}: {
  readonly field: 'addToGroup' | 'removeFromGroup';
  readonly counted: 'added' | 'removed';
  readonly formatResult: (count: string, group: string) => string;
  readonly details: string;
}): Command {
  const inputType = field === 'addToGroup' ? 'AddToGroupInput' : 'RemoveFromGroupInput';
  const mutation = `mutation ($input: ${inputType}!) { ${field}(input: $input) { count: ${counted} } }`;
  return command({
    words: [groupWord, { ...userWord, isRepeatable: true }],
    options: { json },
    settings: connectionSettings,
    details: `For administrators. ${details}`,
    async run({ words: [reference, ...names], options, flags }) {
      if (names.length > maxPerRequest) throw new UsageError('One command takes at most 1,000 users.');
      await withConnection({ flags }, async (connection) => {
        const group = await findGroup(connection, reference!);
        const users = await findUsers(connection, names);
        const input = { groupId: group.id, userIds: users.map(({ id }) => id) };
        const answer = await connection.client.mutate<Payload>(
          mutation,
          { input },
          { signal: connection.signal },
        );
        const { count } = answer[field]!;
        const countText = count === 1 ? 'one user' : count === 0 ? 'no users' : `${count} users`;
        await (options.json
          ? printJson({ group, users, [counted]: count })
          : print(formatResult(countText, escapeControls(group.name))));
      });
    },
  });
}
