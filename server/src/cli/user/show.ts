/** `espalier user show`: shows the details of a user. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { findUser, userWord } from '../api/resolve-names.ts';
import { userFacts, userFields, withAllGroups, type ReadUser } from './user-details.ts';

const query = `query ($id: ID!) { user(id: $id) { ${userFields} } }`;

export const showUser = command({
  words: [userWord],
  options: { json },
  settings: connectionSettings,
  details:
    'Users can show themselves, administrators all users. For the sessions of a user, run espalier session ls --user.',
  async run({ words: [reference], options, flags }) {
    await withConnection({ flags }, async (connection) => {
      const { id } = await findUser(connection, reference!);
      const { signal } = connection;
      const answer = await connection.client.query<{ user: ReadUser }>(query, { id }, { signal });
      const user = await withAllGroups(connection, answer.user);
      await (options.json ? printJson(user) : print(userFacts(user)));
    });
  },
});
