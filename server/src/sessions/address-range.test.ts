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

test('a client has the whole /64 of its IPv6 address, however it is written, and one IPv4 address', () => {
  for (const [one, other] of sameRange)
    assert.equal(addressRange(one), addressRange(other), `${one} ${other}`);
});

test('another network is another client, and so is each IPv4 address, also one written as IPv6', () => {
  for (const [one, other] of otherRange) {
    assert.notEqual(addressRange(one), addressRange(other), `${one} ${other}`);
  }
});

test('who has no address is no address', () => {
  assert.equal(addressRange(null), '');
});
