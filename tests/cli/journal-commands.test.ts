/** `espalier journal`: listing, filtering, output formats and following. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import type { Person } from '../people/people-testbed.ts';
import { recordLog } from '../secrets/secret-record.ts';
import { CommandTestbed } from './command-testbed.ts';

interface Entry {
  readonly number: number;
  readonly kind: string;
  readonly at: string;
}

const program = new URL('../../server/bin/espalier.js', import.meta.url).pathname;

describe(`journal commands on ${sqlite.name}`, () => {
  let testbed: CommandTestbed;
  let anna: Person;
  before(async () => {
    testbed = await CommandTestbed.start(sqlite);
    anna = await testbed.people.createUser({ username: 'Anna' });
    testbed.people.server.clock.advanceSeconds(120);
    for (const name of ['a', 'b', 'c']) await testbed.people.mutate('createFolder', { name });
    await testbed.people.createGroup('Gardeners');
  });
  after(() => testbed.stop());

  const kinds = async (...args: string[]) =>
    (await testbed.json<Entry[]>('journal', 'ls', ...args)).map(({ kind }) => kind);

  test('list the latest entries first, up to a limit', async () => {
    const lines = (await testbed.runOk('journal')).trimEnd().split('\n');
    assert.match(lines[0]!, /^ +Number +At \(UTC\) +By +What$/);
    assert.match(lines[1]!, /^ +\d+ {2}2026-03-01 12:02:00 {2}admin +CREATE_GROUP {2}group Gardeners$/);
    assert.match(lines[2]!, /admin +CREATE_FOLDER {2}\/c$/);
    assert.deepEqual(await kinds('-n', '2'), ['CREATE_GROUP', 'CREATE_FOLDER']);
    assert.deepEqual(await kinds('--first', '0'), []);
    const all = await testbed.json<Entry[]>('journal', 'ls', '--all');
    assert.deepEqual(
      all.map(({ number }) => number),
      all.map((_, index) => all.length - index),
    );
  });

  test('combine filters', async () => {
    assert.deepEqual(await kinds('--kind', 'create_user', '--kind', 'Create-Group'), [
      'CREATE_GROUP',
      'CREATE_USER',
      'CREATE_USER',
    ]);
    assert.deepEqual(await kinds('--user', 'anna'), ['CREATE_USER']);
    assert.deepEqual(await kinds('--by', 'anna'), []);
    assert.deepEqual(await kinds('--folder', '/b', '--by', 'ADMIN'), ['CREATE_FOLDER']);
    assert.deepEqual(await kinds('--group', 'gardeners'), ['CREATE_GROUP']);
    assert.deepEqual(await kinds('--from', '2026-03-01 12:01', '--kind', 'create-user'), []);
    assert.deepEqual(await kinds('--until', '2026-03-01T12:01:00Z', '--by', 'admin'), ['CREATE_USER']);
  });

  test('find entries of deleted users by id', async () => {
    const ben = await testbed.people.createUser({ username: 'Ben' });
    await testbed.people.mutate('deleteUser', { id: ben.id });
    assert.deepEqual(await kinds('--user', `id:${ben.id}`), ['DELETE_USER', 'CREATE_USER']);
    assert.equal(await testbed.runRefused('journal', 'ls', '--user', 'ben'), '1: There is no user ben.');
  });

  test('print CSV for a spreadsheet', async () => {
    const [heading, row] = (await testbed.runOk('journal', 'ls', '--csv', '--group', 'gardeners')).split(
      '\n',
    );
    assert.equal(
      heading,
      'number,at,kind,byId,by,byApiKeyId,byApiKey,folderId,path,formerPath,userId,user,groupId,group,sessionId,before,after',
    );
    assert.match(
      row!,
      /^\d+,2026-03-01T12:02:00\.000Z,CREATE_GROUP,[\da-f-]+,admin,,,,,,,,[\da-f-]+,Gardeners,,,"\{""name"":""Gardeners""\}"$/,
    );
  });

  test('refuse invalid arguments with one error line', async () => {
    const refuseList = (...args: string[]) => testbed.runRefused('journal', 'ls', ...args);
    assert.match(
      await refuseList('--kind', 'create-usr'),
      /^2: Unknown kind "create-usr"\. Did you mean create-user\?$/,
    );
    assert.match(await refuseList('--from', 'noon'), /^2: Invalid value "noon" for --from: use a time/);
    assert.match(
      await refuseList('--first', 'many'),
      /^2: Invalid value "many" for --first: use a whole number/,
    );
    for (const both of ['--all --first 3', '--follow --all', '--follow --until 2026-01-01']) {
      assert.match(await refuseList(...both.split(' ')), /^2: /);
    }
    const { code, errors } = await testbed.run('journal', 'ls', '--csv', '--json');
    const { error } = JSON.parse(errors) as { error: { code: string; message: string } };
    assert.deepEqual([code, error.code], [2, 'USAGE']);
    assert.match(error.message, /^Option '--csv' cannot be used with option '--json'/);
    await testbed.logIn(anna, 'anna');
    assert.equal(await refuseList('--profile', 'anna'), '1: Only administrators may do this.');
  });

  test('print new entries without gaps or duplicates until Ctrl-C', async () => {
    const args = ['journal', '--follow', '--json', '--first', '1', '--kind', 'create-folder'];
    const child = spawn(process.execPath, ['--conditions=espalier-source', program, ...args], {
      env: { ...testbed.environment, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const folders: string[] = [];
    const lines = createInterface({ input: child.stdout });
    for await (const line of lines) {
      recordLog(line);
      folders.push((JSON.parse(line) as { folder: { path: string } }).folder.path);
      if (folders.length === 1)
        for (const name of ['d', 'e', 'f']) await testbed.people.mutate('createFolder', { name });
      if (folders.length === 4) await testbed.people.mutate('createFolder', { name: 'g' });
      if (folders.length === 5) child.kill('SIGINT');
    }
    assert.deepEqual(folders, ['/c', '/d', '/e', '/f', '/g']);
    assert.deepEqual(await ended, [130, null]);
  });
});
