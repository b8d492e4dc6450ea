/**
 * Runs the commands of some pages in order, on a server or a database file with the folders and users that they name.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { CliTestbed } from '../cli/cli-testbed.ts';
import { sqlite } from '../support/databases.ts';
import { program, runInHost } from '../support/espalier-command.ts';
import { createApiKeyText } from '../../server/src/sessions/api-key-text.ts';
import { recordOutput } from '../secrets/secret-record.ts';
import { Testbed } from '../support/testbed.ts';
import { root } from './follow-page.ts';
import { readPage } from './page-steps.ts';

interface CommandLine {
  readonly settings: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

describe('the page on everyday tasks of administrators', () => {
  let testbed: CliTestbed;
  let trashedId: string;
  before(async () => {
    testbed = await CliTestbed.start(sqlite);
    await testbed.tree.import(['Places/Floor 2', 'Places/Safe', 'Archive/Old']);
    await testbed.output('folder', 'rm', '/Archive/Old');
    [{ folderId: trashedId }] = await testbed.json<[{ folderId: string }]>('folder', 'trash');
  });
  after(() => testbed.stop());

  test('contains commands that work in this order', async () => {
    const lines = linesOf('docs/administrators/everyday-tasks.md').map(({ args }) =>
      args.map((word) => word.replace(/^[\da-f]{8}-[\da-f-]{27}$/, trashedId)),
    );
    assert.equal(lines.length, 23);
    assert.equal(lines.shift()![0], 'login'); // The test has logged in already.
    const resetPassword = lines.pop()!;
    for (const args of lines) {
      // This command would run until Ctrl-C.
      await testbed.output(...args.filter((word) => word !== '--follow'));
    }
    assert.match(await testbed.output('folder', 'tree'), /Old/);
    assert.match(await testbed.output('explain', 'anna', '/Places/Safe'), /NONE/);
    assert.match(await testbed.output('user', 'show', 'anna'), /disabled/i);
    // Comes last, because it ends the session of the other commands.
    const { code, errors } = await runInHost(resetPassword, {
      ...testbed.environment,
      ESPALIER_DATABASE_URL: testbed.tree.server.database.url,
    });
    assert.equal(code, 0, errors);
  });
});

test('the page on building a client starts a test server, logs in and ends', async () => {
  const page = readFileSync(join(root, 'docs/clients/build-a-client.md'), 'utf8');
  const program = readPage(page).blocks.find(({ language }) => language === 'js')!.text;
  const flags = ['--conditions=espalier-source', '--input-type=module', '--eval', program];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, flags, { cwd: root });
  assert.deepEqual({ stdout, stderr }, { stdout: '200\n', stderr: '' });
});

describe('the page on access for programs', () => {
  const path = 'docs/clients/programs.md';
  const page = readPage(readFileSync(join(root, path), 'utf8'));

  test('contains shell blocks that work in this order', async (context) => {
    const testbed = await CliTestbed.start(sqlite);
    context.after(() => testbed.stop());
    await testbed.tree.import(['Places']);
    await testbed.output('user', 'create', 'robot', '--generate');
    const bin = join(testbed.folder, 'bin');
    mkdirSync(bin);
    const command = `#!/bin/sh\nexec '${process.execPath}' --conditions=espalier-source '${program}' "$@"\n`;
    writeFileSync(join(bin, 'espalier'), command, { mode: 0o755 });
    const shell = page.blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
    assert.equal(shell.length, 11);
    const { stdout, stderr } = await promisify(execFile)(
      'bash',
      ['-euo', 'pipefail', '-c', shell.join('\n')],
      {
        cwd: testbed.folder,
        env: {
          ...testbed.environment,
          PATH: `${bin}:${process.env['PATH']}`,
          API: testbed.tree.server.url,
        },
      },
    );
    recordOutput(stdout);
    assert.match(stdout, /"viewer":\{"user":\{"username":"inventory-sync"\},"apiKey":\{"name":"nightly"/);
    assert.match(stdout, /inventory-sync \(service account\) at .*\nAPI key nightly/);
    assert.match(stdout, /^Keys revoked: 1\.$/m);
    assert.match(stdout, /^State: +revoked on /m);
    assert.match(stdout, /inventory-sync +CREATE_FOLDER +\/Places\/Harbor +with key nightly$/m);
    assert.match(stdout, /^robot is a service account/m);
    assert.doesNotMatch(stdout + stderr, /esp_[\dA-Za-z]{54}/);
    assert.ok((await testbed.output('folder', 'list', '/Places')).includes('Harbor'));
  });

  test('quotes messages of the server', () => {
    const sources = globSync('server/src/**/*.ts', { cwd: root })
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .join('');
    const rows = page.prose.join('\n').matchAll(/^\| `((?:This|The|You|An|With) [^`]+)`/gm);
    const messages = [...rows].map(([, message]) => message!);
    assert.equal(messages.length, 14);
    for (const message of messages) assert.ok(sources.includes(message), message);
  });

  test('has the pattern of a real key', () => {
    const [, pattern] = /^(\\besp_.*)$/m.exec(page.blocks.map(({ text }) => text).join('\n'))!;
    const { text } = createApiKeyText();
    assert.match(`key=${text};`, new RegExp(pattern!));
    assert.doesNotMatch(text.slice(0, -1), new RegExp(pattern!));
  });
});

describe('the pages for operators', () => {
  let folder: string;
  let url: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-how-to-'));
    url = `sqlite:${join(folder, 'data/espalier.db')}`;
    const testbed = await Testbed.start(sqlite, { database: { url, remove: () => Promise.resolve() } });
    await testbed.stop();
  });
  after(() => rmSync(folder, { recursive: true }));

  test('contain commands for database files and signing keys that work without a running server', async () => {
    // The other commands need a server, PostgreSQL or a terminal.
    const testable = /^(backup|restore|migrate|signing-key (list|rotate|retire)|doctor$)(?!.*<)/;
    const lines = ['install', 'backup', 'upgrade', 'signing-keys']
      .flatMap((page) => linesOf(`docs/operators/${page}.md`))
      .filter(({ args }) => testable.test(args.join(' ')));
    assert.equal(lines.length, 13);
    for (const { settings, args } of lines) {
      const argsInFolder = args.map(inFolder);
      const environment = { ESPALIER_DATABASE_URL: url, ESPALIER_PORT: '0', ...settings };
      environment.ESPALIER_DATABASE_URL = inFolder(environment.ESPALIER_DATABASE_URL);
      const { code, errors, output } = await runInHost(argsInFolder, environment);
      assert.equal(code, 0, `espalier ${argsInFolder.join(' ')}: ${errors}${output}`);
    }
  });

  const inFolder = (word: string) =>
    word
      .replace(/^(sqlite:)?\/(backup|tmp)\/(?!espalier-how-to)/, `$1${folder}/`)
      .replace('$(date +%F)', '2026-03-01');
});

/** Returns every line of the shell blocks that is a command of the program. */
function linesOf(path: string): CommandLine[] {
  const { blocks } = readPage(readFileSync(join(root, path), 'utf8'));
  const lines = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.split('\n'));
  return lines.flatMap((line) => {
    const [, assignments, command] = /^((?:\w+=\S+ )*)(?:npx )?espalier ([^#]*)/.exec(line) ?? [];
    if (command === undefined) return [];
    const settings = Object.fromEntries(
      assignments!
        .split(' ')
        .filter(Boolean)
        .map((tokens) => tokens.split('=') as [string, string]),
    );
    const args = [...command.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
    return [{ settings, args }];
  });
}
