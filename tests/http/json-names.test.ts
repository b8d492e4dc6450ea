/** The server treats names with a meaning in JavaScript (`__proto__`, `constructor`, `prototype`) like any other name. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator, Testbed, type TestResponse } from '../support/testbed.ts';

/** Written as text, because an object literal would set the prototype. */
const specialNames =
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":[1]}';

for (const kind of databaseKinds) {
  describe(`JSON names with a meaning in JavaScript, on ${kind.name}`, () => {
    let testbed: Testbed;
    let authToken: string;
    before(async () => {
      testbed = await Testbed.start(kind);
      ({ authToken } = await testbed.logIn());
    });
    after(() => testbed.stop());
    // The server runs in this process, so pollution would be visible here.
    afterEach(() => assert.equal(({} as Record<string, unknown>)['polluted'], undefined));

    const headers = () => ({ 'content-type': 'application/json', authorization: `Bearer ${authToken}` });
    const queryRaw = (query: string, variables: string): Promise<TestResponse> =>
      testbed.postRaw('/graphql', `{"query":${JSON.stringify(query)},"variables":${variables}}`, headers());

    test('do not let a body inherit its fields from a prototype', async () => {
      const inherited = `{"__proto__":${JSON.stringify(administrator)}}`;
      const answer = await testbed.postRaw('/login', inherited, { 'content-type': 'application/json' });
      assert.equal(answer.status, 400);
      const verify = `{"__proto__":{"authToken":"${authToken}"}}`;
      assert.equal((await testbed.postRaw('/login/verify', verify, headers())).status, 400);
      const query = '{"__proto__":{"query":"{folder{name}}"}}';
      assert.equal((await testbed.postRaw('/graphql', query, headers())).status, 400);
    });

    test('are ignored in fields that the server does not read', async () => {
      const credentials = `{"x":${specialNames},"__proto__":${specialNames},${JSON.stringify(administrator).slice(1)}`;
      assert.equal(
        (await testbed.postRaw('/login', credentials, { 'content-type': 'application/json' })).status,
        200,
      );
      const answer = await queryRaw('query($id: ID){folder(id: $id){name}}', specialNames);
      assert.equal(answer.status, 200);
      assert.match(answer.text, /^{"data":{"folder":/);
    });

    test('are stored in properties, from a variable and from a literal', async () => {
      const create = 'mutation($p: JSON){createFolder(input:{name:"a",properties:$p}){folder{properties}}}';
      const created = await queryRaw(create, `{"p":${specialNames}}`);
      assert.ok(created.text.includes(`"properties":${specialNames}`), created.text);
      const literal =
        'mutation{createFolder(input:{name:"b",properties:{__proto__:{polluted:1},constructor:2}}){folder{properties}}}';
      const written = await queryRaw(literal, '{}');
      assert.ok(
        written.text.includes('"properties":{"__proto__":{"polluted":1},"constructor":2}'),
        written.text,
      );
    });

    test('are stored by an import, but never used as its input', async () => {
      const load =
        'mutation($i: ImportFoldersInput!){importFolders(input:$i){folderCount parent{folders(filter:{nameStartsWith:"c"}){items{name properties}}}}}';
      const good = await queryRaw(load, `{"i":{"list":[{"path":"c","properties":${specialNames}}]}}`);
      assert.ok(good.text.includes(`"items":[{"name":"c","properties":${specialNames}}]`), good.text);
      const bad = await queryRaw(load, '{"i":{"__proto__":{"list":[{"path":"d"}]}}}');
      assert.match(bad.text, /"errors"/);
      const names = '{"i":{"list":[{"path":"__proto__/constructor"},{"path":"__proto__/prototype"}]}}';
      assert.match((await queryRaw(load, names)).text, /"folderCount":3/);
    });

    test('may name variables, operations and response fields', async () => {
      const named = await queryRaw(
        'query __proto__($__proto__: ID, $constructor: ID){__proto__: folder(id: $__proto__){constructor: name} prototype: folder(id: $constructor){name}}',
        '{"__proto__":null,"constructor":null}',
      );
      assert.equal(named.status, 200);
      const { data } = named.json<{ data: object }>();
      assert.deepEqual(Object.keys(data), ['__proto__', 'prototype'], named.text);
      const unknown = await testbed.post(
        '/graphql',
        { query: '{folder{name}}', operationName: '__proto__' },
        authToken,
      );
      assert.match(unknown.text, /"errors"/);
    });

    test('are handled the same over GET and over a socket', async () => {
      const query = 'query($id: ID){folder(id: $id){name}}';
      const parameters = new URLSearchParams({ query, variables: specialNames, extensions: specialNames });
      assert.equal(
        (await testbed.send('GET', `/graphql?${parameters.toString()}`, { headers: headers() })).status,
        200,
      );
      const client = await SocketClient.connect(testbed.url, authToken);
      client.socket.send(
        `{"id":"__proto__","type":"subscribe","__proto__":${specialNames},"payload":{"query":"{folder{name}}","variables":${specialNames}}}`,
      );
      assert.deepEqual((await client.next()).id, '__proto__');
      assert.equal((await client.next()).type, 'complete');
      client.socket.close();
      const unauthenticatedSocket = await SocketClient.open(testbed.url);
      unauthenticatedSocket.socket.send(
        `{"type":"connection_init","payload":{"__proto__":{"authorization":"Bearer ${authToken}"}}}`,
      );
      assert.notEqual((await unauthenticatedSocket.closed()).code, 1000);
    });

    test('cannot turn a GET or a form into a mutation', async () => {
      const change = 'mutation{createFolder(input:{name:"by GET"}){folder{id}}}';
      const getResponse = await testbed.send(
        'GET',
        `/graphql?${new URLSearchParams({ query: change }).toString()}`,
        {
          headers: headers(),
        },
      );
      assert.equal(getResponse.status, 405);
      assert.equal(getResponse.headers.get('allow'), 'POST');
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
      ]) {
        const body = JSON.stringify({ query: change });
        const postResponse = await testbed.postRaw('/graphql', body, { ...headers(), 'content-type': type });
        assert.equal(postResponse.status, 415);
      }
      const { text } = await testbed.query('{folder(path:"/by GET"){id}}', authToken);
      assert.equal(text, '{"data":{"folder":null}}');
    });
  });
}
