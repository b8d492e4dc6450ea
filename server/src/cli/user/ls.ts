/** `espalier user ls`: lists the users. */

import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { print, printJson } from '../terminal/output.ts';
import { halving, itemsOf, pageInfo, type Page } from '../api/pages.ts';
import { userFields, userTable, withAllGroups, type ReadUser, type UserDetails } from './user-details.ts';

const query = `query ($text: String, $first: Int, $after: String) {
  users(text: $text, first: $first, after: $after) { items { ${userFields} } ${pageInfo} }
}`;

export const listUsers = command({
  options: { text: { value: 'text', about: 'List only names that contain this text, in any case' }, json },
  settings: connectionSettings,
  details: 'For administrators.',
  async run({ options: { text, json: isJson }, flags }) {
    await withConnection({ flags }, async (connection) => {
      const { client, signal } = connection;
      const read = halving<ReadUser>(async (slice) => {
        const answer = await client.query<{ users: Page<ReadUser> }>(query, { text, ...slice }, { signal });
        return answer.users;
      });
      const users: UserDetails[] = [];
      for await (const user of itemsOf(read)) users.push(await withAllGroups(connection, user));
      await (isJson ? printJson(users) : print(userTable(users)));
    });
  },
});
