/** Tests the search for secrets in the logs and the output of test servers. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createApiKeyText } from '../../server/src/sessions/api-key-text.ts';
import { decodeBase32 } from '../second-factors/authenticator-app.ts';
import { splitSecret, findSecrets, type Secret } from './secret.ts';
import { folderVariable } from './secret-record.ts';
import { SecretSearch } from './secret-search.ts';
import { searchSuite } from './suite-secrets.ts';

const part = (bytes: number) => randomBytes(bytes).toString('base64url');
const signed = { head: `eyJ${part(30)}`, claims: part(90), signature: part(64) };
const authToken = Object.values(signed).join('.');

describe('the secrets of a request', () => {
  const valuesIn = (text: string) =>
    findSecrets(text)
      .flatMap(splitSecret)
      .map(({ value }) => value);

  test('are found in JSON, in invalid JSON, in a query and in headers', () => {
    const refreshToken = randomUUID();
    for (const [text, expected] of [
      [JSON.stringify({ username: 'anna', password: 'walnut "cabin"\n' }), ['walnut "cabin"\n']],
      ['{"password":"walnut cabin', ['walnut cabin']],
      [JSON.stringify({ input: { oldPassword: 'one cabin', newPassword: 'two' } }), ['one cabin', 'two']],
      [JSON.stringify({ query: 'mutation{a(password: "walnut cabin")}' }), ['walnut cabin']],
      [`authorization: Bearer ${authToken}\r\n`, [signed.claims, signed.signature]],
      [JSON.stringify({ authToken, expires_in: 600 }), [signed.claims, signed.signature]],
      ['Bearer nonsense', ['nonsense']],
    ] as const) {
      assert.deepEqual(valuesIn(text), expected, text);
    }
    const digest = createHash('sha256').update(refreshToken).digest();
    const found = valuesIn(JSON.stringify({ refreshToken }));
    assert.equal(found[0], refreshToken);
    assert.ok(found.includes(digest.toString('hex')));
  });

  test('include an API key, its secret, and the digest that the server stores', () => {
    const { text, secretDigest } = createApiKeyText();
    const found = valuesIn(`authorization: Bearer ${text}`);
    assert.equal(found[0], text);
    assert.ok(found.includes(Buffer.from(secretDigest).toString('hex')));
  });

  test('include the codes and secrets of single sign-on and second factors', () => {
    const [code, verifier] = [part(32), part(32)];
    const input = { code, verifier };
    assert.deepEqual(valuesIn(JSON.stringify(input)), [code, verifier]);
    assert.deepEqual(valuesIn(JSON.stringify({ query: '…', variables: { input } })), [code, verifier]);
    const recoveryCode = 'abcd-2345-6789-2345';
    const codes = [recoveryCode, recoveryCode.replaceAll('-', '')];
    for (const body of [{ recoveryCodes: [recoveryCode] }, { code: recoveryCode }]) {
      assert.deepEqual(valuesIn(JSON.stringify(body)), codes);
    }
    const secret = 'A2'.repeat(16);
    const bytes = Buffer.from(decodeBase32(secret));
    for (const text of [JSON.stringify({ secret }), `otpauth://totp/x?issuer=y&secret=${secret}`]) {
      assert.deepEqual(valuesIn(text).slice(0, 2), [secret, bytes.toString('hex')]);
    }
    assert.deepEqual(valuesIn(JSON.stringify({ code: 'INVALID_CREDENTIALS', secret: null })), []);
  });

  test('do not include neighboring fields', () => {
    assert.deepEqual(valuesIn('{"username":"anna","passwordChangedAt":"2026"}'), []);
  });
});

describe('a search for secrets', () => {
  const secrets: Secret[] = [
    { kind: 'password', value: 'walnut "cabin" ü' },
    { kind: 'refresh token', value: 'c56a4180-65aa-42ec-a945-5fd21dec0538' },
    { kind: 'signature of an auth token', value: signed.signature },
    { kind: 'password', value: 'short' },
  ];
  const search = new SecretSearch(secrets);
  const findIn = (text: string) => search.find(`before\n${text}\nafter\n`);

  test('finds each secret, also inside a longer word, and replaces it', () => {
    for (const [text, line] of [
      ['a walnut "cabin" ü b', 'a <password> b'],
      [JSON.stringify({ msg: 'walnut "cabin" ü' }), '{"msg":"<password>"}'],
      [`?p=${encodeURIComponent('walnut "cabin" ü')}`, '?p=<password>'],
      ['xc56a4180-65aa-42ec-a945-5fd21dec0538x', 'x<refresh token>x'],
      [`${signed.head}.${signed.signature}`, `${signed.head}.<signature of an auth token>`],
    ] as const) {
      assert.deepEqual(
        findIn(text).map((found) => found.line),
        [line],
      );
    }
  });

  test('ignores similar texts and short secrets', () => {
    for (const text of ['walnut cabin', 'c56a4180-65aa-42ec-a945-5fd21dec0539', 'short', signed.claims]) {
      assert.deepEqual(findIn(text), [], text);
    }
    assert.deepEqual([search.size, search.tooShort], [3, 1]);
  });

  test('finds secrets by their shape, even if they were not recorded', () => {
    const token = `eyJ${part(30)}.${part(90)}.${part(64)}`;
    const hash = `$argon2id$v=19$m=19456,t=2,p=1$${part(16)}$${part(32)}`;
    for (const [text, kind] of [
      [token, 'something like an auth token'],
      [JSON.stringify({ hash }), 'hash of a password'],
      ['-----BEGIN PRIVATE KEY-----', 'private key'],
      [JSON.stringify(JSON.stringify({ kty: 'OKP', d: part(32) })), 'private key'],
    ] as const) {
      const [found] = findIn(`before ${text}`);
      assert.equal(found?.kind, kind);
      assert.ok(found.line.startsWith('before ') || found.line.includes('<'), found.line);
      assert.ok(!found.line.includes(token));
    }
  });
});

describe('a test process', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'espalier-secrets-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const run = (script: string, environment: Record<string, string> = {}) => {
    const file = join(folder, 'one.ts');
    const from = JSON.stringify(new URL('secret-record.ts', import.meta.url).pathname);
    writeFileSync(
      file,
      `import { recordLog, recordOutput, recordSecretsIn, recordSettings } from ${from};\n${script}`,
    );
    return spawnSync(process.execPath, ['--conditions=espalier-source', file], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], NODE_TEST_CONTEXT: 'child', ...environment },
    });
  };
  const password = `walnut ${randomUUID()}`;
  const recordPassword = `recordSecretsIn(${JSON.stringify(JSON.stringify({ password }))});`;

  test('fails, without printing the secret, if one of its secrets was logged', () => {
    const { status, stderr } = run(`${recordPassword} recordLog('so far\\nhere it is: ${password}!\\n');`);
    assert.equal(status, 1);
    assert.match(stderr, /contains a password: here it is: <password>!/);
    assert.ok(!stderr.includes(password));
  });

  test('succeeds if no secret was logged', () => {
    const { status, stderr } = run(`${recordPassword} recordLog('here it is not');`);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  });

  test('searches for passwords in settings, also in URLs', () => {
    const url = `postgres://anna:${encodeURIComponent(password)}@host/name`;
    for (const settings of [
      { DATABASE_URL: url },
      { ESPALIER_ADMIN_PASSWORD: password },
      { MASTER_KEY: password },
    ]) {
      const { status } = run(`recordSettings(${JSON.stringify(settings)}); recordLog('${password}');`);
      assert.equal(status, 1, JSON.stringify(settings));
    }
  });

  test('accepts a generated password only in the line that reports it', () => {
    const firstStartOutput = `  Password   abcde-fghij   (shown only this once)\n`;
    assert.equal(run(`recordOutput(${JSON.stringify(firstStartOutput)});`).status, 0);
    assert.equal(run(`recordOutput(${JSON.stringify(`${firstStartOutput}abcde-fghij\n`)});`).status, 1);
    assert.equal(
      run(`recordOutput(${JSON.stringify(firstStartOutput)}); recordLog('abcde-fghij');`).status,
      1,
    );
  });

  test('stores its record for a search over the logs of all processes', () => {
    const stored = join(folder, 'stored');
    const runFirstProcess = () => run(recordPassword, { [folderVariable]: stored });
    const runSecondProcess = (text: string) =>
      run(`recordLog('one\\n${text}\\n');`, { [folderVariable]: stored });
    assert.equal(runFirstProcess().status, 0);
    assert.equal(runSecondProcess('two').status, 0);
    assert.deepEqual(searchSuite(stored), {
      isClean: true,
      report: '\n2 log lines searched for 1 secrets: none found\n',
    });
    assert.equal(runSecondProcess(`password is ${password}`).status, 0);
    const { isClean, report } = searchSuite(stored);
    assert.equal(isClean, false);
    assert.match(
      report,
      /4 log lines searched for 1 secrets: 1 found\n.*one\.ts: a password in: password is <password>\n$/,
    );
  });
});
