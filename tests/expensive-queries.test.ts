/** Whoever sends many expensive queries at once keeps neither logins nor other people's queries waiting for all of them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseKinds } from './databases.ts';
import { plantFolders } from './stored-rows.ts';
import { administrator } from './testbed.ts';
import { TreeBed } from './tree/tree-bed.ts';

const count = 24;
const aliases = Array.from({ length: 18 }, (_, place) => `a${place}: title`).join(' ');
const expensive = [
  `{folder{folders{items{${aliases}}}}}`,
  '{folder{descendants{edges{depth cursor node{id name title path createdAt}}}}}',
];

for (const kind of databaseKinds) {
  test(`a login and another person's query are answered amid ${count} expensive queries on ${kind.name}`, async () => {
    const tree = await TreeBed.start(kind);
    try {
      const names = Array.from({ length: 1_500 }, (_, place) => `Folder ${place}`);
      await plantFolders(tree.bed.database.url, names);
      const { authToken } = await tree.person({});
      const answered: string[] = [];
      const note = async (name: string, answer: Promise<{ status: number }>) => {
        assert.equal((await answer).status, 200);
        answered.push(name);
      };
      const storm = Array.from({ length: count }, (_, place) =>
        note('storm', tree.bed.query(expensive[place % expensive.length]!, tree.authToken)),
      );
      const visits = [
        note('login', tree.bed.post('/login', administrator)),
        note('query', tree.bed.query('{folder{name}}', authToken)),
      ];
      await Promise.all([...storm, ...visits]);
      for (const name of ['login', 'query']) {
        assert.ok(answered.lastIndexOf('storm') > answered.indexOf(name), `${name}: ${answered.join()}`);
      }
    } finally {
      await tree.stop();
    }
  });
}
