/** `espalier user show`: all that is known of one user. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson } from '../output.ts';
import { findUser, userWord } from '../resolve-names.ts';
import { userFacts, userFields, withAllGroups, type ReadUser } from './user-details.ts';

const query = `query ($id: ID!) { user(id: $id) { ${userFields} } }`;

export const showUser = command({
  words: [userWord],
  options: { json },
  settings: connectionSettings,
  details:
    'For administrators, and for everybody about themself. espalier session ls --user shows the sessions.',
  async run({ words: [reference], options, flags }) {
    await withConnection({ flags }, async (asking) => {
      const { id } = await findUser(asking, reference!);
      const { signal } = asking;
      const answer = await asking.client.query<{ user: ReadUser }>(query, { id }, { signal });
      const user = await withAllGroups(asking, answer.user);
      await (options.json ? printJson(user) : print(userFacts(user)));
    });
  },
});
