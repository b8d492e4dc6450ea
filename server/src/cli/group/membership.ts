/** The commands that add users to a group or remove them, all of the named users or none. */

import { UsageError } from '../../config/start-error.ts';
import { command, json, type Command } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson, escapeControls } from '../output.ts';
import { findGroup, findUsers, groupWord, userWord } from '../resolve-names.ts';

type Payload = Readonly<Record<string, { readonly count: number }>>;

/** The server takes no more in one transaction. */
const maxPerRequest = 1_000;

export function membership({
  field,
  counted,
  tell,
  details,
}: {
  readonly field: 'addToGroup' | 'removeFromGroup';
  readonly counted: 'added' | 'removed';
  readonly tell: (count: string, group: string) => string;
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
      if (names.length > maxPerRequest) throw new UsageError('At most 1,000 users go in one command.');
      await withConnection({ flags }, async (asking) => {
        const group = await findGroup(asking, reference!);
        const users = await findUsers(asking, names);
        const input = { groupId: group.id, userIds: users.map(({ id }) => id) };
        const answer = await asking.client.mutate<Payload>(mutation, { input }, { signal: asking.signal });
        const { count } = answer[field]!;
        const countText = count === 1 ? 'one user' : count === 0 ? 'nobody' : `${count} users`;
        await (options.json
          ? printJson({ group, users, [counted]: count })
          : print(tell(countText, escapeControls(group.name))));
      });
    },
  });
}
