/** Logins and queries of other users get a response before the last of many expensive queries. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { insertFolders } from '../support/stored-rows.ts';
import { administrator } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

const count = 24;
const aliases = Array.from({ length: 18 }, (_, index) => `a${index}: title`).join(' ');
const expensive = [
  `{folder{folders{items{${aliases}}}}}`,
  '{folder{descendants{edges{depth cursor node{id name title path createdAt}}}}}',
];

for (const kind of databaseKinds) {
  test(`a login and a query of another user get a response during ${count} expensive queries, on ${kind.name}`, async () => {
    const tree = await TreeTestbed.start(kind);
    try {
      const names = Array.from({ length: 1_500 }, (_, index) => `Folder ${index}`);
      await insertFolders(tree.server.database.url, names);
      const { authToken } = await tree.person({});
      const finishedNames: string[] = [];
      const recordEnd = async (name: string, answer: Promise<{ status: number }>) => {
        assert.equal((await answer).status, 200);
        finishedNames.push(name);
      };
      const expensiveResponses = Array.from({ length: count }, (_, index) =>
        recordEnd('storm', tree.server.query(expensive[index % expensive.length]!, tree.authToken)),
      );
      const otherResponses = [
        recordEnd('login', tree.server.post('/login', administrator)),
        recordEnd('query', tree.server.query('{folder{name}}', authToken)),
      ];
      await Promise.all([...expensiveResponses, ...otherResponses]);
      for (const name of ['login', 'query']) {
        assert.ok(
          finishedNames.lastIndexOf('storm') > finishedNames.indexOf(name),
          `${name}: ${finishedNames.join()}`,
        );
      }
    } finally {
      await tree.stop();
    }
  });
}
