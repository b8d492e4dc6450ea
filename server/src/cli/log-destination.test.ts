import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { pino } from 'pino';
import { eventually } from '../../../tests/eventually.ts';
import { withWriteLimit } from '../../../tests/write-limit.ts';
import { logDestination } from './log-destination.ts';

let folder: string;
let file: string;
let descriptor: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  file = join(folder, 'log');
  descriptor = openSync(file, 'a');
});
afterEach(() => {
  closeSync(descriptor);
  rmSync(folder, { recursive: true });
});
const messages = () =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);

test('what cannot be written on a full disk is written when there is room, in its order', async () => {
  const log = pino({}, logDestination(descriptor));
  log.info('before');
  await withWriteLimit(0, () => Promise.resolve(log.info('during')));
  assert.deepEqual(messages(), ['before']);
  log.info('after');
  assert.deepEqual(messages(), ['before', 'during', 'after']);
});

test('of what is too much to keep, the first is kept', async () => {
  const log = pino({}, logDestination(descriptor));
  const long = 'x'.repeat(100_000);
  await withWriteLimit(0, () => {
    for (let place = 0; place < 100; place++) log.info(`${place} ${long}`);
    return Promise.resolve();
  });
  log.info('lost');
  log.info('after');
  const places = messages().map((text) => text.split(' ')[0]);
  assert.deepEqual(places, ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10', 'after']);
});

test('lines that can wait are written together, before any that cannot', () => {
  const destination = logDestination(descriptor);
  destination.hold('{"msg":"one"}\n');
  destination.hold('{"msg":"two"}\n');
  assert.equal(readFileSync(file, 'utf8'), '');
  destination.write('{"msg":"three"}\n');
  assert.deepEqual(messages(), ['one', 'two', 'three']);
});

test('what could not be written is tried again, also if nothing more is logged', async () => {
  const destination = logDestination(descriptor);
  await withWriteLimit(0, () => Promise.resolve(destination.write('{"msg":"only"}\n')));
  await eventually(() => readFileSync(file, 'utf8') !== '', 'it is written');
  assert.deepEqual(messages(), ['only']);
});

test('lines that can wait do so for a moment only, and not when there are many', async () => {
  const destination = logDestination(descriptor);
  const long = `{"msg":"${'x'.repeat(70_000)}"}\n`;
  destination.hold(long);
  assert.equal(readFileSync(file, 'utf8'), long);
  destination.hold('{"msg":"last"}\n');
  await eventually(() => messages().length === 2, 'it is written');
});

test('on a terminal each line is written at once, in words', () => {
  const destination = logDestination(descriptor, true);
  destination.hold('{"level":30,"time":0,"pid":1,"hostname":"here","msg":"requests are served again"}\n');
  assert.match(readFileSync(file, 'utf8'), /^\d\d:\d\d:\d\d\.000 INFO {2}requests are served again\n$/);
});

test('a log that takes nothing for good hinders nobody', () => {
  const full = openSync('/dev/full', 'w');
  const log = pino({}, logDestination(full));
  for (let place = 0; place < 1_000; place++) log.info('one of many');
  closeSync(full);
  log.info('closed');
});
