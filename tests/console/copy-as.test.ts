/** "Copy as" in the console: a shell, the command line and the server understand the copied text. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import * as accessActions from '../../console/src/actions/access-actions.ts';
import * as apiKeyActions from '../../console/src/actions/api-key-actions.ts';
import { quoteForShell, formatCall, type Action } from '../../console/src/actions/action.ts';
import * as folderActions from '../../console/src/actions/folder-actions.ts';
import * as peopleActions from '../../console/src/actions/people-actions.ts';
import { CliTestbed } from '../cli/cli-testbed.ts';
import { findCommand, parseCommand } from '../cli/parse-command.ts';
import { sqlite } from '../support/databases.ts';

const apiUrl = 'https://example.com/espalier';
const secret = 'a-Secret-that-nobody-may-see';
const id = '01a1e100-76cc-7000-8012-279faa1f1f0b';
const name = "-It's $HOME; `id`\n#“quoted” \\";

/** Each action with an example input and its command; null if only `espalier query` can express it. */
const calls: readonly (readonly [action: string, input: object, command: string | null])[] = [
  ['createFolder', { parentId: id, name }, null],
  [
    'updateFolder',
    { id, name, title: null, properties: { area: [name, 1] }, expectedVersion: 3 },
    'folder update',
  ],
  ['updateFolder', { id, properties: { 'a=b': 1 } }, null],
  ['moveFolder', { id, parentId: id, dryRun: true }, 'folder move'],
  ['moveFolder', { id, parentId: id, expectedVersion: 3 }, null],
  ['deleteFolder', { id, recursive: true }, 'folder delete'],
  ['deleteFolder', { id, recursive: true, expectedVersion: 3 }, null],
  ['duplicateFolder', { id }, null],
  ['setFavorite', { folderId: id, isFavorite: true }, null],
  ['restoreFolder', { id, parentId: id, name }, 'folder restore'],
  ['purgeFolder', { id }, null],
  ['emptyTrash', { deletedBefore: '2026-03-01T00:00:00.000Z' }, null],
  ['grantAccess', { folderId: id, userId: id, level: 'MANAGE' }, 'grant create'],
  ['revokeAccess', { folderId: id, groupId: id }, 'grant delete'],
  ['createUser', { username: name, password: secret, isAdministrator: true }, 'user create'],
  ['createUser', { kind: 'SERVICE', username: name, isAdministrator: false }, 'user create'],
  ['updateUser', { id, username: name }, 'user rename'],
  ['updateUser', { id, isDisabled: true }, 'user disable'],
  ['updateUser', { id, isDisabled: false }, 'user enable'],
  ['updateUser', { id, isAdministrator: true }, 'user promote'],
  ['updateUser', { id, isAdministrator: false }, 'user demote'],
  ['updateUser', { id, isAdministrator: false, isDisabled: true }, null],
  ['startViewAs', { userId: id }, null],
  ['deleteUser', { id }, 'user delete'],
  ['resetPassword', { userId: id, password: secret }, 'user password'],
  ['changePassword', { oldPassword: secret, newPassword: secret }, 'user password'],
  ['createGroup', { name }, 'group create'],
  ['updateGroup', { id, name }, 'group rename'],
  ['deleteGroup', { id }, 'group delete'],
  ['addToGroup', { groupId: id, userIds: [id, id] }, 'group join'],
  ['removeFromGroup', { groupId: id, userIds: [id] }, 'group leave'],
  ['createApiKey', { name, level: 'READ', folderId: id, networks: [name, '::1'] }, 'key create'],
  [
    'createApiKey',
    { userId: id, name, level: 'MANAGE', isAdministrator: true, expiresAt: '2026-03-01T00:00:00.000Z' },
    'key create',
  ],
  ['revokeApiKey', { id }, 'key revoke'],
  ['convertToServiceAccount', { userId: id }, 'user convert-to-service'],
  ['linkSingleSignOn', { code: secret, verifier: secret }, null],
  ['unlinkSingleSignOn', { id }, null],
  ['revokeSession', { id }, 'session revoke'],
  ['revokeSessions', { userId: id }, 'session revoke'],
  ['revokeSessions', { keepCurrent: true }, 'session revoke'],
];

const actions: Readonly<Record<string, unknown>> = {
  ...folderActions,
  ...accessActions,
  ...peopleActions,
  ...apiKeyActions,
};

/** Splits a text into words like a shell. */
function wordsOf(text: string): string[] {
  const environment = { PATH: process.env['PATH'], ESPALIER_AUTH_TOKEN: 'token', HOME: '/nowhere' };
  const output = execFileSync('sh', ['-c', `printf '%s\\0' ${text}`], {
    env: environment,
    encoding: 'utf8',
  });
  return output.split('\0').slice(0, -1);
}

describe('“Copy as”', () => {
  test('supports every action', () => {
    const isAction = (value: unknown) => typeof value === 'object' && value !== null && 'document' in value;
    const actionNames = Object.keys(actions).filter((each) => isAction(actions[each]));
    assert.deepEqual(new Set(calls.map(([action]) => action)), new Set(actionNames));
  });

  for (const [action, input, command] of calls) {
    const call = { action: actions[action] as Action, variables: { input } };

    test(`writes ${action} with ${Object.keys(input).join(', ')} as CLI command ${command ?? 'query'}`, async () => {
      const [program, ...words] = wordsOf(formatCall('cli', call, apiUrl));
      assert.equal(program, 'espalier');
      const { name: commandName, definition, rest } = (await findCommand(words))!;
      assert.equal(commandName, command ?? 'query');
      const parsed = parseCommand(commandName, definition, rest);
      if (command === null) {
        const { variables } = parsed.options as { variables?: string };
        const withoutSecrets = JSON.stringify({ input }).replaceAll(secret, '…');
        assert.deepEqual(JSON.parse(variables!), JSON.parse(withoutSecrets));
      }
      // The command contains every value of the input that is the chosen name.
      const chosenNames = Object.values(input).filter((value) => value === name);
      const all = [...parsed.words, ...Object.values(parsed.options)].flat() as unknown[];
      if (command !== null)
        assert.ok(
          chosenNames.every((value) => all.includes(value)),
          all.join(' | '),
        );
    });
  }

  test('writes curl with the document, the variables and a token of the shell', () => {
    for (const [action, input] of calls) {
      const call = { action: actions[action] as Action, variables: { input } };
      const [program, url, ...options] = wordsOf(formatCall('curl', call, apiUrl));
      assert.deepEqual([program, url], ['curl', `${apiUrl}/graphql`]);
      assert.deepEqual(options.slice(0, 5), [
        '-H',
        'Authorization: Bearer token',
        '-H',
        'Content-Type: application/json',
        '-d',
      ]);
      const body = JSON.parse(options[5]!) as { query: string; variables: { input: object } };
      assert.match(body.query, new RegExp(`^mutation .*\\b${action}\\(`));
      assert.deepEqual(Object.keys(body.variables.input), Object.keys(input));
    }
  });

  test('contains no password in any form', () => {
    for (const [action, input] of calls) {
      const call = { action: actions[action] as Action, variables: { input } };
      for (const form of ['graphql', 'curl', 'cli'] as const) {
        assert.ok(!formatCall(form, call, apiUrl).includes(secret), `${form} of ${action}`);
      }
    }
  });

  test('preserves the line breaks and strings of a document with comments', () => {
    const document = '# All of it\n{\n  search(text: "a   b") { totalCount } # so many\n}\n';
    const call = { action: { label: 'Query', document }, variables: {} };
    assert.equal(wordsOf(formatCall('cli', call, apiUrl)).at(-1), document.trim());
    const body = JSON.parse(wordsOf(formatCall('curl', call, apiUrl)).at(-1)!) as { query: string };
    assert.equal(body.query, document.trim());
    assert.equal(formatCall('graphql', call, apiUrl), document.trim());
  });

  test('quotes everything that a shell would interpret', () => {
    for (const word of [
      '',
      'plain',
      'id:7',
      '~',
      '*',
      '$x',
      'a b',
      "it's",
      '!1',
      '"',
      '\\',
      'a\nb',
      '-x',
      '#c',
    ]) {
      assert.deepEqual(wordsOf(quoteForShell(word)), [word]);
    }
  });
});

describe('a copied CLI command with text that looks like a flag', () => {
  let testbed: CliTestbed;
  before(async () => (testbed = await CliTestbed.start(sqlite)));
  after(() => testbed.stop());

  /** Runs the copied command. */
  const runCopied = (action: Action, input: object) => {
    const [, ...words] = wordsOf(formatCall('cli', { action, variables: { input } }, apiUrl));
    return testbed.run(words);
  };
  const paste = async (action: unknown, input: object) => {
    const { code, output, errors } = await runCopied(action as Action, input);
    assert.equal(code, 0, errors);
    assert.doesNotMatch(output, /^Usage|^\d/);
  };
  const idOf = async (kind: 'user' | 'group', expectedName: string) => {
    const all = await testbed.json<{ id: string; username?: string; name?: string }[]>(kind, 'ls');
    return all.find((one) => (one.username ?? one.name) === expectedName)!.id;
  };

  const flagLikeTexts = [
    '-h',
    '--help',
    '-v',
    '--version',
    '--',
    '-',
    '-r',
    '--no-title',
    '--name=x',
    '--title',
  ];
  for (const [at, text] of flagLikeTexts.entries()) {
    test(`works for folders: ${text}`, async () => {
      const { createFolder, updateFolder, deleteFolder, restoreFolder } = folderActions;
      await testbed.tree.import([{ path: `folders ${at}/one` }]);
      const folder = await testbed.tree.idOf(`/folders ${at}/one`);
      const [title, icon, description] = [text, text, text];
      await paste(updateFolder, {
        id: folder,
        name: text,
        title,
        icon,
        description,
        properties: { [at]: text },
      });
      await paste(updateFolder, { id: folder, properties: text.includes('=') ? {} : { [text]: text } });
      await paste(deleteFolder, { id: folder, recursive: true });
      const parentId = await testbed.tree.idOf(`/folders ${at}`);
      await paste(restoreFolder, { id: folder, parentId, name: `${text}2` });
      const folderFields = await testbed.json<Record<string, unknown>>('folder', 'show', `id:${folder}`);
      assert.deepEqual(
        {
          path: folderFields['path'],
          title: folderFields['title'],
          icon: folderFields['icon'],
          description: folderFields['description'],
        },
        { path: `/folders ${at}/${text}2`, title, icon, description },
      );
      assert.deepEqual(folderFields['properties'], text.includes('=') ? {} : { [text]: text });
      await paste(createFolder, { parentId: folder, name: text, title });
      assert.ok(await testbed.tree.idOf(`/folders ${at}/${text}2/${text}`));
    });

    test(`works for users and groups: ${text}`, async () => {
      const { createGroup, updateGroup, createUser, updateUser } = peopleActions;
      await paste(createGroup, { name: text });
      await paste(updateGroup, { id: await idOf('group', text), name: `${text}3` });
      assert.ok(await idOf('group', `${text}3`));
      const result = await runCopied(createUser, {
        username: text,
        password: secret,
        isAdministrator: true,
      });
      assert.deepEqual(
        [result.code === 0, result.output],
        [false, ''],
        'there is no terminal for a password prompt',
      );
      await testbed.output('user', 'add', '--generate', `user${at}`);
      await paste(updateUser, { id: await idOf('user', `user${at}`), username: text });
      assert.ok(await idOf('user', text));
    });
  }
});
