import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './config.ts';
import { trustedProxyWarning } from './settings-warnings.ts';

const warningOf = (value: string) =>
  trustedProxyWarning(readSettings({ environment: { ESPALIER_TRUST_PROXY: value } }).settings);

test('names a trusted range that is wider than a subnet', () => {
  for (const range of [
    '10.0.0.0/8',
    '10.0.0.0/23',
    '127.0.0.0/7',
    'fd00::/8',
    '2001:db8::/63',
    '::ffff:10.0.0.0/104',
    'uniquelocal',
    'linklocal',
  ]) {
    assert.match(warningOf(`10.0.0.5, ${range}`)!, new RegExp(`^ESPALIER_TRUST_PROXY trusts ${range}: `));
  }
  assert.match(warningOf('10.0.0.0/8,fd00::/8')!, /trusts 10\.0\.0\.0\/8, fd00::\/8: /);
});

test('warns if all proxies are trusted', () => {
  assert.match(warningOf('true')!, /^ESPALIER_TRUST_PROXY is true: every client can forge X-Forwarded-For/);
});

test('does not warn about addresses, subnets, loopback or a number of hops', () => {
  for (const value of [
    'false',
    '1',
    '10.0.0.5',
    '10.0.0.5, 10.0.1.5/32',
    '10.0.0.0/24',
    '2001:db8::/64',
    '::ffff:10.0.0.0/120',
    'loopback',
    '127.0.0.0/8',
    '::1',
  ]) {
    assert.equal(warningOf(value), undefined, value);
  }
});
