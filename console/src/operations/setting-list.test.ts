import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDifferent, groupSettings, formatValue, type Setting } from './setting-list.ts';

const setting = (input: Partial<Setting>): Setting => ({
  name: 'ESPALIER_PORT',
  subject: 'Network',
  description: 'Where it listens.',
  accepts: 'a port',
  value: '8080',
  default: '8080',
  source: 'DEFAULT',
  givenBy: null,
  isSecret: false,
  ...input,
});
const port = setting({ value: '9104', source: 'ENVIRONMENT', givenBy: 'ESPALIER_PORT' });
const host = setting({ name: 'ESPALIER_HOST', value: '127.0.0.1', default: '127.0.0.1' });
const masterKey = setting({
  name: 'ESPALIER_MASTER_KEY',
  subject: 'Database',
  description: 'Seals the signing keys.',
  value: null,
  default: null,
  isSecret: true,
});
const names = (found: ReturnType<typeof groupSettings>) =>
  found.map(({ name, settings }) => [name, ...settings.map((one) => one.name)]);

test('groups settings by subject in the order of the server', () => {
  assert.deepEqual(names(groupSettings([port, masterKey, host])), [
    ['Network', 'ESPALIER_PORT', 'ESPALIER_HOST'],
    ['Database', 'ESPALIER_MASTER_KEY'],
  ]);
});

test('finds settings whose texts contain every word of the search', () => {
  assert.deepEqual(names(groupSettings([port, masterKey, host], { text: ' Signing KEY ' })), [
    ['Database', 'ESPALIER_MASTER_KEY'],
  ]);
  assert.deepEqual(names(groupSettings([port, host], { text: '9104' })), [['Network', 'ESPALIER_PORT']]);
  assert.deepEqual(groupSettings([port, host], { text: 'port sealed' }), []);
});

test('treats every secret that is set as different from its default', () => {
  assert.ok(isDifferent(port));
  assert.ok(!isDifferent(setting({ source: 'COMMAND_LINE' })));
  assert.ok(!isDifferent(masterKey));
  assert.ok(isDifferent({ ...masterKey, source: 'FILE' }));
  assert.deepEqual(names(groupSettings([port, host, masterKey], { isOnlyDifferent: true })), [
    ['Network', 'ESPALIER_PORT'],
  ]);
});

test('shows only whether a secret is set', () => {
  assert.equal(formatValue(masterKey).text, 'not set');
  assert.equal(formatValue({ ...masterKey, source: 'FILE', value: 'abc' }).text, 'set, not shown');
  assert.deepEqual(formatValue(port), { text: '9104', isValue: true });
  assert.deepEqual(formatValue(setting({ value: '' })), { text: 'empty', isValue: false });
});
