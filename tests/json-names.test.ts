/** Names that mean something to JavaScript (`__proto__`, `constructor`, `prototype`) are names like any other. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { databaseKinds } from './databases.ts';
import { SocketClient } from './live/socket-client.ts';
import { administrator, Testbed, type Answer } from './testbed.ts';

/** As text: an object literal would make a prototype of it. */
const poison = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":[1]}';

for (const kind of databaseKinds) {
  describe(`names of members on ${kind.name}`, () => {
    let bed: Testbed;
    let authToken: string;
    before(async () => {
      bed = await Testbed.start(kind);
      ({ authToken } = await bed.logIn());
    });
    after(() => bed.stop());
    // The server is in this process: what it lets through would be here.
    afterEach(() => assert.equal(({} as Record<string, unknown>)['polluted'], undefined));

    const headers = () => ({ 'content-type': 'application/json', authorization: `Bearer ${authToken}` });
    const askRaw = (query: string, variables: string): Promise<Answer> =>
      bed.postRaw('/graphql', `{"query":${JSON.stringify(query)},"variables":${variables}}`, headers());

    test('a body whose prototype would be good is not good', async () => {
      const inherited = `{"__proto__":${JSON.stringify(administrator)}}`;
      const answer = await bed.postRaw('/login', inherited, { 'content-type': 'application/json' });
      assert.equal(answer.status, 400);
      const verify = `{"__proto__":{"authToken":"${authToken}"}}`;
      assert.equal((await bed.postRaw('/login/verify', verify, headers())).status, 400);
      const query = '{"__proto__":{"query":"{folder{name}}"}}';
      assert.equal((await bed.postRaw('/graphql', query, headers())).status, 400);
    });

    test('beside what is asked for, they are passed over', async () => {
      const credentials = `{"x":${poison},"__proto__":${poison},${JSON.stringify(administrator).slice(1)}`;
      assert.equal(
        (await bed.postRaw('/login', credentials, { 'content-type': 'application/json' })).status,
        200,
      );
      const answer = await askRaw('query($id: ID){folder(id: $id){name}}', poison);
      assert.equal(answer.status, 200);
      assert.match(answer.text, /^{"data":{"folder":/);
    });

    test('properties keep them, as values of a variable and as a literal', async () => {
      const create = 'mutation($p: JSON){createFolder(input:{name:"a",properties:$p}){folder{properties}}}';
      const created = await askRaw(create, `{"p":${poison}}`);
      assert.ok(created.text.includes(`"properties":${poison}`), created.text);
      const literal =
        'mutation{createFolder(input:{name:"b",properties:{__proto__:{polluted:1},constructor:2}}){folder{properties}}}';
      const written = await askRaw(literal, '{}');
      assert.ok(
        written.text.includes('"properties":{"__proto__":{"polluted":1},"constructor":2}'),
        written.text,
      );
    });

    test('an import keeps them, and takes nothing from a prototype', async () => {
      const load =
        'mutation($i: ImportFoldersInput!){importFolders(input:$i){folderCount parent{folders(filter:{nameStartsWith:"c"}){items{name properties}}}}}';
      const good = await askRaw(load, `{"i":{"list":[{"path":"c","properties":${poison}}]}}`);
      assert.ok(good.text.includes(`"items":[{"name":"c","properties":${poison}}]`), good.text);
      const bad = await askRaw(load, '{"i":{"__proto__":{"list":[{"path":"d"}]}}}');
      assert.match(bad.text, /"errors"/);
      const names = '{"i":{"list":[{"path":"__proto__/constructor"},{"path":"__proto__/prototype"}]}}';
      assert.match((await askRaw(load, names)).text, /"folderCount":3/);
    });

    test('they may be names of variables, operations and fields of an answer', async () => {
      const named = await askRaw(
        'query __proto__($__proto__: ID, $constructor: ID){__proto__: folder(id: $__proto__){constructor: name} prototype: folder(id: $constructor){name}}',
        '{"__proto__":null,"constructor":null}',
      );
      assert.equal(named.status, 200);
      const { data } = named.json<{ data: object }>();
      assert.deepEqual(Object.keys(data), ['__proto__', 'prototype'], named.text);
      const unknown = await bed.post(
        '/graphql',
        { query: '{folder{name}}', operationName: '__proto__' },
        authToken,
      );
      assert.match(unknown.text, /"errors"/);
    });

    test('over a GET and over a socket it is the same', async () => {
      const query = 'query($id: ID){folder(id: $id){name}}';
      const parameters = new URLSearchParams({ query, variables: poison, extensions: poison });
      assert.equal(
        (await bed.send('GET', `/graphql?${parameters.toString()}`, { headers: headers() })).status,
        200,
      );
      const client = await SocketClient.connect(bed.url, authToken);
      client.socket.send(
        `{"id":"__proto__","type":"subscribe","__proto__":${poison},"payload":{"query":"{folder{name}}","variables":${poison}}}`,
      );
      assert.deepEqual((await client.next()).id, '__proto__');
      assert.equal((await client.next()).type, 'complete');
      client.socket.close();
      const unproven = await SocketClient.open(bed.url);
      unproven.socket.send(
        `{"type":"connection_init","payload":{"__proto__":{"authorization":"Bearer ${authToken}"}}}`,
      );
      assert.notEqual((await unproven.closed()).code, 1000);
    });

    test('a GET never changes anything, and a body of a form is not read', async () => {
      const change = 'mutation{createFolder(input:{name:"by GET"}){folder{id}}}';
      const got = await bed.send('GET', `/graphql?${new URLSearchParams({ query: change }).toString()}`, {
        headers: headers(),
      });
      assert.equal(got.status, 405);
      assert.equal(got.headers.get('allow'), 'POST');
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
      ]) {
        const body = JSON.stringify({ query: change });
        const posted = await bed.postRaw('/graphql', body, { ...headers(), 'content-type': type });
        assert.equal(posted.status, 415);
      }
      const { text } = await bed.query('{folder(path:"/by GET"){id}}', authToken);
      assert.equal(text, '{"data":{"folder":null}}');
    });
  });
}
