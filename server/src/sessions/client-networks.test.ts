import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areNetworksInside, createNetworkCheck, requireNetworks } from './client-networks.ts';

const allows = (network: string, address: string) => createNetworkCheck(requireNetworks([network]))(address);

test('compares an IPv4 client only with IPv4 networks', () => {
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:c000:207', '0:0:0:0:0:ffff:192.0.2.7']) {
    for (const network of ['192.0.2.7', '192.0.2.0/24', '0.0.0.0/0', '::ffff:192.0.2.0/120']) {
      assert.equal(allows(network, address), true, `${address} in ${network}`);
    }
    for (const network of ['192.0.3.0/24', '::/0', '::1/64', '::1', '2001:db8::/32']) {
      assert.equal(allows(network, address), false, `${address} in ${network}`);
    }
  }
});

test('compares an IPv6 client only with IPv6 networks', () => {
  for (const network of ['::/0', '2001:db8::/32', '2001:DB8:0:0::/64']) {
    assert.equal(allows(network, '2001:db8::7'), true, network);
  }
  for (const network of ['0.0.0.0/0', '8000::/1', '2001:db9::/32']) {
    assert.equal(allows(network, '2001:db8::7'), false, network);
  }
});

test('allows no client without a valid address, unless every address is allowed', () => {
  for (const address of [null, '', 'unknown', '192.0.2.7.']) {
    assert.equal(createNetworkCheck(['0.0.0.0/0', '::/0'])(address), false);
    assert.equal(createNetworkCheck([])(address), true);
  }
});

test('stores an IPv4-mapped network as an IPv4 network', () => {
  assert.deepEqual(requireNetworks(['::ffff:10.0.0.0/104', '::ffff:10.0.0.1']), [
    '10.0.0.0/8',
    '10.0.0.1/32',
  ]);
  assert.throws(() => requireNetworks(['::ffff:10.0.0.0/90']), { code: 'BAD_INPUT' });
});

test('finds no IPv4 network inside an IPv6 network', () => {
  assert.equal(areNetworksInside(['10.0.0.0/8'], ['::/0']), false);
  assert.equal(areNetworksInside(['10.1.0.0/16', '2001:db8::/48'], ['10.0.0.0/8', '2001:db8::/32']), true);
});
