import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOpenApiDocument } from '@espalier/contract';
import { formatCurl, listEndpoints, formatType, type OpenApi } from './openapi-model.ts';

const endpoints = listEndpoints(createOpenApiDocument({ url: '/', version: '0' }) as unknown as OpenApi);
const endpoint = (id: string) => endpoints.find((one) => one.id === id)!;

describe('OpenAPI model', () => {
  test('lists each endpoint once, with its requests and responses', () => {
    assert.deepEqual(endpoints.map(({ method, path }) => `${method} ${path}`).slice(0, 10), [
      'POST /login',
      'POST /login/enrolment',
      'POST /login/enrolment/confirm',
      'POST /login/passkey/options',
      'POST /login/passkey',
      'POST /login/refresh',
      'POST /logout',
      'POST /login/verify',
      'GET /login/methods',
      'GET /login/sso',
    ]);
    assert.equal(new Set(endpoints.map(({ id }) => id)).size, endpoints.length);
    const login = endpoint('login');
    assert.equal(login.access, 'Public');
    assert.deepEqual(
      login.body?.fields.map(({ name, isRequired }) => [name, isRequired]),
      [
        ['username', true],
        ['password', true],
        ['code', false],
      ],
    );
    const malformed = login.responses.find(({ status }) => status === '400')!;
    assert.equal(malformed.meanings.length, 2);
    assert.equal(malformed.body, 'Problem');
  });

  test('creates curl commands that take tokens and passwords from shell variables', () => {
    assert.equal(
      formatCurl(endpoint('login'), 'https://example.com/base'),
      [
        'curl https://example.com/base/login',
        "-H 'Content-Type: application/json'",
        '-d "{\\"username\\":\\"ada\\",\\"password\\":\\"$ESPALIER_PASSWORD\\"}"',
      ].join(' \\\n  '),
    );
    assert.equal(
      formatCurl(endpoint('logout'), 'https://example.com'),
      ['curl https://example.com/logout', '-H "Authorization: Bearer $ESPALIER_AUTH_TOKEN"', '-X POST'].join(
        ' \\\n  ',
      ),
    );
    assert.match(
      formatCurl(endpoint('graphByGet'), ''),
      / -G .*--data-urlencode 'query=\{ folder \{ name \} \}'$/s,
    );
    assert.match(
      formatCurl(endpoint('introspect'), ''),
      /-u "\$ESPALIER_INTROSPECTION_CLIENT".*--data-urlencode "token=\$ESPALIER_AUTH_TOKEN"$/s,
    );
  });

  test('describes types in words', () => {
    assert.equal(formatType({ type: ['string', 'null'] }), 'string or null');
    assert.equal(formatType({ type: 'array', items: { type: 'object' } }), 'list of object');
    assert.equal(formatType({ type: 'string', format: 'uuid' }), 'string (uuid)');
    assert.equal(formatType({ enum: ['ok', 'ready'] }), '"ok" or "ready"');
    assert.equal(formatType({ $ref: '#/components/schemas/Problem' }), 'Problem');
  });
});
