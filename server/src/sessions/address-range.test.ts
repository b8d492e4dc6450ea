import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressRange } from './login-throttle.ts';

const sameRange = [
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
  ['2001:DB8:1:2::1', '2001:0db8:0001:0002:0000:0000:0000:0009'],
  ['fe80::1%eth0', 'fe80::2%eth1'],
  ['::1', '::2'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['64:ff9b::192.0.2.7', '192.0.2.7'],
] as const;

const otherRange = [
  ['2001:db8:1:2::1', '2001:db8:1:3::1'],
  ['192.0.2.7', '192.0.2.8'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.8'],
  ['64:ff9b::192.0.2.7', '64:ff9b::192.0.2.8'],
  ['::1', '127.0.0.1'],
] as const;

test('uses the /64 of an IPv6 address in any notation, and the whole IPv4 address', () => {
  for (const [one, other] of sameRange)
    assert.equal(addressRange(one), addressRange(other), `${one} ${other}`);
});

test('separates networks and IPv4 addresses, even in IPv6 notation', () => {
  for (const [one, other] of otherRange) {
    assert.notEqual(addressRange(one), addressRange(other), `${one} ${other}`);
  }
});

test('returns an empty range without an address', () => {
  assert.equal(addressRange(null), '');
});
