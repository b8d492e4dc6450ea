import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containsPassword, redactPassword } from './redact-url.ts';

test('keeps the host, the port and the database name', () => {
  const redacted = {
    'postgres://me:hunter2@db.example:5432/tree': 'postgres://…@db.example:5432/tree',
    'postgres://me:hunter2@db.example/tree?sslmode=require': 'postgres://…@db.example/tree',
    'postgres://db.example:5432/tree': 'postgres://db.example:5432/tree',
    'postgresql://[::1]:5432/tree': 'postgresql://[::1]:5432/tree',
    'mysql://me:hunter2@db.example/tree': 'mysql://…@db.example/tree',
    'sqlite:./espalier-data/espalier.db': 'sqlite:./espalier-data/espalier.db',
    'sqlite:/srv/what? #1.db': 'sqlite:/srv/what? #1.db',
    'espalier.db': 'espalier.db',
    'two words': 'two words',
    '::1,,::2': '::1,,::2',
    'https://a.example/x': 'https://a.example/x',
    '': '',
  };
  for (const [input, expected] of Object.entries(redacted)) assert.equal(redactPassword(input), expected);
});

const password = 'hunter2';
const signs = ['', '@', '/', '?', '#', ':', ' ', '%', '\n', '@/', '?@', '#@', '/@:', '//', '://'];
for (const [name, write] of Object.entries<(secret: string) => string>({
  'a correct URL': (secret) => `postgres://me:${secret}@db.example/tree`,
  'a URL with one slash': (secret) => `postgres:/me:${secret}@db.example/tree`,
  'a URL with three slashes': (secret) => `postgres:///me:${secret}@db.example/tree`,
  'a URL without slashes': (secret) => `postgres:me:${secret}@db.example/tree`,
  'a URL without a scheme': (secret) => `me:${secret}@db.example/tree`,
  'a URL of another database': (secret) => `mysql://me:${secret}@db.example/tree`,
  'a URL without a host': (secret) => `postgres://me:${secret}/tree`,
  'a URL parameter': (secret) => `postgres://db.example/tree?user=me&password=${secret}`,
  'a URL parameter of another database': (secret) => `mysql://db.example/tree?password=${secret}`,
  'libpq keywords': (secret) => `host=db.example user=me password=${secret}`,
  'libpq keywords with spaces': (secret) => `host = db.example password = '${secret}'`,
})) {
  test(`removes any password from ${name}`, () => {
    for (const sign of signs) {
      for (const secret of [password + sign, sign + password, `${password}${sign}${password}`]) {
        const url = write(secret);
        // The text after the @ is a host.
        if (name === 'a URL without a host' && secret.includes('@')) continue;
        assert.ok(!redactPassword(url).includes(password), `${url} is shown as ${redactPassword(url)}`);
      }
    }
  });
}

test('detects a password in a URL', () => {
  for (const url of [
    'postgres://me:hunter2@db.example/tree',
    'postgres://:hunter2@db.example/tree',
    'postgres://db.example/tree?password=hunter2',
    'postgres://me:hunter2@db example/tree',
    'host=db.example password=hunter2',
  ]) {
    assert.equal(containsPassword(url), true, url);
  }
  for (const url of [
    'postgres://me@db.example/tree',
    'postgres://db.example:5432/tree?sslmode=verify-full',
    'sqlite:./espalier-data/espalier.db',
    '',
  ]) {
    assert.equal(containsPassword(url), false, url);
  }
});
