/** Responses that take more than one time slice. graphql-js executes the first request, and a plan the later ones. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { Testbed } from '../support/testbed.ts';

const count = 2_500;
const tree = Array.from({ length: count }, (_, index) => ({ name: `f${index}`, title: `🌳 “é” ${index}` }));
const titles = Array.from({ length: 30 }, (_, index) => `a${index}: title`).join(' ');
const queries = [
  `{folder{folders{items{${titles}}}}}`,
  `{folder{descendants(first: ${count}){edges{depth node{name ${titles}}}}}}`,
];

for (const kind of databaseKinds) {
  test(`long responses are complete and the same from graphql-js and from a plan, on ${kind.name}`, async (context) => {
    const testbed = await Testbed.start(kind);
    context.after(() => testbed.stop());
    const { authToken } = await testbed.logIn();
    const fill = 'mutation($input: ImportFoldersInput!){importFolders(input: $input){folderCount}}';
    await testbed.query(fill, authToken, { input: { tree } });
    for (const query of queries) {
      const first = await testbed.query(query, authToken);
      for (let time = 0; time < 2; time++) {
        const next = await testbed.query(query, authToken);
        assert.equal(next.status, 200);
        assert.ok(next.text === first.text);
        assert.equal(Number(next.headers.get('content-length')), Buffer.byteLength(next.text));
      }
      const { text: events } = await testbed.send('POST', '/graphql', {
        headers: {
          accept: 'text/event-stream',
          'content-type': 'application/json',
          authorization: `Bearer ${authToken}`,
        },
        body: JSON.stringify({ query }),
      });
      assert.ok(events === `event: next\ndata: ${first.text}\n\nevent: complete\ndata:\n\n`);
      assert.ok(first.text.length > 2 ** 20);
      assert.ok(first.text.includes(`🌳 “é” ${count - 1}"`));
      assert.ok(!first.text.startsWith('{"errors"'));
    }
    assert.deepEqual(
      testbed.logLines.filter((line) => line.includes('failed')),
      [],
    );
  });
}
