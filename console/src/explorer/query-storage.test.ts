import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { redactCall, redactDocument } from './redact-query.ts';
import { createQueryStorage } from './query-storage.ts';

/** The parts of a browser's storage that the explorer uses. */
function createStorage(): Storage {
  const items = new Map<string, string>();
  return {
    get length() {
      return items.size;
    },
    key: (at: number) => [...items.keys()][at] ?? null,
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
    clear: () => items.clear(),
  };
}

function storeAndRead(key: string, value: string): string {
  const queries = createQueryStorage('ada', createStorage());
  queries.setItem(key, value);
  return queries.getItem(key)!;
}

describe('stored queries', () => {
  test('are separate for each user', () => {
    const sharedStorage = createStorage();
    const [ada, grace] = [
      createQueryStorage('ada', sharedStorage),
      createQueryStorage('grace', sharedStorage),
    ];
    ada.setItem('query', '{ cursor }');
    assert.equal(ada.getItem('query'), '{ cursor }');
    assert.equal(grace.getItem('query'), null);
    grace.setItem('query', '{ viewer }');
    ada.clear();
    assert.deepEqual([ada.length, grace.length, grace.getItem('query')], [0, 1, '{ viewer }']);
  });

  test('stay in memory if the browser has no storage', () => {
    const memory = createQueryStorage('ada', null);
    memory.setItem('query', '{ cursor }');
    memory.clear();
    assert.deepEqual([memory.length, memory.getItem('query')], [0, null]);
  });

  const secrets = ['hunter2-long', 'with "quotes" inside', 'back\\slash', 'ends with \\', ': "a", b', ''];
  for (const secret of secrets) {
    test(`contain no password such as ${JSON.stringify(secret)}`, () => {
      const quotedSecret = JSON.stringify(secret);
      const query = `mutation { createUser(input: { username: "ada", password: ${quotedSecret} }) { user { id } } }`;
      const variables = `{ "input": { "oldPassword": ${quotedSecret}, "newPassword" : ${quotedSecret}, "id": "7" } }`;
      const redactedQuery = 'mutation { createUser(input: { username: "", password: "" }) { user { id } } }';
      assert.equal(redactDocument(query), redactedQuery);
      const tabs = { tabs: [{ id: 'x', query, variables, headers: null }], activeTabIndex: 0 };
      assert.deepEqual(JSON.parse(storeAndRead('graphiql:tabState', JSON.stringify(tabs))), {
        tabs: [{ id: 'x', query: redactedQuery, variables: '', headers: null }],
        activeTabIndex: 0,
      });
      assert.equal(storeAndRead('graphiql:variables', variables), '');
    });
  }

  const resetQuery = `mutation($p:String!){resetPassword(input:{userId:"7",password:$p}){user{id}}}`;
  const sources: Readonly<Record<string, { query: string; variables: string }>> = {
    'a variable of another name': { query: resetQuery, variables: '{"p":"hunter2"}' },
    'variables that are not valid JSON yet': { query: resetQuery, variables: '{"p":"hunter2' },
    'an input whose variables alone name a secret': {
      query: 'mutation($input:CreateUserInput!){createUser(input:$input){user{id}}}',
      variables: '{"input":{"username":"ada","password":"hunter2"}}',
    },
    'a default': {
      query: 'mutation($p:String!="hunter2"){resetPassword(input:{userId:"7",password:$p}){user{id}}}',
      variables: '',
    },
    'a value after a comment': {
      query: 'mutation{resetPassword(input:{userId:"7",password: # it\'s "new\n "hunter2"}){user{id}}}',
      variables: '',
    },
    'a comment': { query: '# password: "hunter2"\n{ cursor }', variables: '' },
    'a block string': {
      query: 'mutation { resetPassword(input: { password: """ a \\""" "hunter2" """, userId: "7" }) }',
      variables: '',
    },
    'an unterminated string': {
      query: 'mutation { resetPassword(input: { password: "hunter2 \n}) }',
      variables: '',
    },
    'an unterminated block string': { query: '{ a(password: """ \n hunter2', variables: '' },
    'an API key': { query: 'mutation { updateFolder(input: { title: "esp_hunter2" }) }', variables: '' },
    'escaped letters': { query: '{ a }', variables: '{"pass\\u0077ord":"hunter2"}' },
  };
  for (const [source, operation] of Object.entries(sources)) {
    test(`contain no password from ${source}`, () => {
      const tab = {
        id: 'x',
        hash: `${operation.query}|${operation.variables}|`,
        ...operation,
        response: 'hunter2',
      };
      const tabs = storeAndRead('graphiql:tabState', JSON.stringify({ tabs: [tab], activeTabIndex: 0 }));
      const history = storeAndRead(
        'graphiql:queries',
        JSON.stringify({ queries: [{ ...operation, operationName: 'A' }] }),
      );
      for (const text of [tabs, history, storeAndRead('graphiql:query', operation.query)]) {
        assert.doesNotMatch(text, /hunter2/);
      }
      assert.match(history, /"variables":"","operationName":"A"/);
      let variables = {};
      try {
        variables = JSON.parse(operation.variables) as object;
      } catch {
        // The copy leaves out invalid variables.
      }
      assert.doesNotMatch(JSON.stringify(redactCall(operation.query, variables)), /hunter2/);
    });
  }

  test('keep the shape of their variables when they are copied', () => {
    assert.deepEqual(redactCall(resetQuery, { p: 'hunter2', n: [1, 'a'] }), {
      document: 'mutation($p:String!){resetPassword(input:{userId:"",password:$p}){user{id}}}',
      variables: { p: '…', n: [1, '…'] },
    });
  });

  test('are unchanged if they contain no secret', () => {
    for (const text of [
      'mutation ($password: String!, $id: ID!) { resetPassword(input: { userId: $id, password: $password }) }',
      '{ folder(path: "/a # b") { id } } # "c"',
      '# passwords: see the docs',
    ]) {
      assert.equal(storeAndRead('graphiql:query', text), text);
      assert.equal(redactDocument(text), text);
    }
    const operation = { query: '{ folder(id: "7") { name } }', variables: '{"a":"b"}' };
    const secretOperation = { query: '{ a(token: "t") }', variables: '' };
    const tabState = JSON.stringify({ tabs: [operation, secretOperation] });
    assert.deepEqual(JSON.parse(storeAndRead('graphiql:tabState', tabState)), {
      tabs: [operation, { query: '{ a(token: "") }', variables: '' }],
    });
    assert.equal(redactCall(operation.query, { a: 'b' }).document, operation.query);
  });
});
