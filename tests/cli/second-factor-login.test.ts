/** `espalier login` for users with a second factor, and for users who must set one up. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { codeAt, codeSeconds } from '../support/authenticator-app.ts';
import { sqlite } from '../support/databases.ts';
import { administrator, Testbed } from '../support/testbed.ts';
import { CommandTestbed } from './command-testbed.ts';
import { hasPseudoTerminal, runOnTerminal, type Step } from './pseudo-terminal.ts';

interface Enrolment {
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

describe('a login with a second factor', () => {
  let testbed: CommandTestbed;
  let enrolment: Enrolment;
  const anna = { id: '', username: 'anna', password: 'walnut cabin of anna' };
  before(async () => {
    assert.ok(hasPseudoTerminal);
    testbed = await CommandTestbed.start(sqlite);
    await testbed.people.createUser(anna);
    const { authToken } = await testbed.people.logIn(anna);
    const proof = { password: anna.password };
    const mutate = <T>(name: string, input: object, fields: string) =>
      testbed.people.mutate<T>(name, { ...input }, fields, authToken);
    const { secret } = await mutate<{ secret: string }>('startTotpEnrolment', { proof }, 'secret');
    const code = codeAt(secret, testbed.people.server.clock.now());
    const confirmed = await mutate<Enrolment>('confirmTotpEnrolment', { code }, 'recoveryCodes');
    enrolment = { secret, recoveryCodes: confirmed.recoveryCodes };
  });
  after(() => testbed.stop());

  const nextCode = () => {
    testbed.people.server.clock.advanceSeconds(codeSeconds);
    return codeAt(enrolment.secret, testbed.people.server.clock.now());
  };
  const args = (profile: string) => [
    'login',
    '--url',
    testbed.people.server.url,
    '-u',
    'anna',
    '--profile',
    profile,
  ];
  const profileFile = (name: string) => join(testbed.folder, `espalier/profiles/${name}.json`);
  const password: Step = [/Password of anna at http/, `${anna.password}\r`];

  test('asks for a code after the password, until it is right', async () => {
    const { code, text } = await runOnTerminal(args('asked'), testbed.environment, [
      password,
      [/Code of your authenticator app, or a recovery code/, '000000\r'],
      [/wrong, too old or already used\. Try again/, `${nextCode()}\r`],
    ]);
    assert.equal(code, 0, text);
    assert.match(text, /Logged in as anna at http/);
    assert.match(await testbed.runOk('whoami', '--profile', 'asked'), /^anna at /);
  });

  test('accepts a recovery code', async () => {
    const { code, text } = await runOnTerminal(args('recovered'), testbed.environment, [
      password,
      [/Code of your authenticator app, or a recovery code/, `${enrolment.recoveryCodes[0]}\r`],
    ]);
    assert.equal(code, 0, text);
  });

  test('stores nothing after Ctrl-C at the code', async () => {
    const steps: Step[] = [password, [/Code of your authenticator app/, '\x03']];
    const { code, text } = await runOnTerminal(args('left'), testbed.environment, steps);
    assert.equal(code, 130, text);
    assert.equal(existsSync(profileFile('left')), false);
  });

  test('reads the code from a file, and explains a missing or wrong code if there is no terminal', async () => {
    const file = testbed.writeTempFile(anna.password);
    const logIn = (...more: string[]) => [...args('script'), '--password-file', file, ...more];
    assert.equal(
      await testbed.runRefused(...logIn()),
      '3: The user has a second factor, and there is no terminal to ask for the code. Run the command in a terminal, or use --code-file.',
    );
    const wrong = testbed.writeTempFile('000000\n');
    assert.match(await testbed.runRefused(...logIn('--code-file', wrong)), /^3: /);
    assert.equal(existsSync(profileFile('script')), false);
    await testbed.runOk(...logIn('--code-file', testbed.writeTempFile(`${nextCode()}\n`)));
    assert.equal(existsSync(profileFile('script')), true);
  });

  test('is displayed in the list of users, and for each user', async () => {
    const users = await testbed.json<{ username: string; hasSecondFactor: boolean }[]>('user', 'list');
    assert.deepEqual(
      users.map(({ username, hasSecondFactor }) => [username, hasSecondFactor]),
      [
        ['admin', false],
        ['anna', true],
      ],
    );
    assert.match(await testbed.runOk('user', 'show', 'anna'), /^Second factor: +on$/m);
  });
});

describe('a login to a server that requires a second factor', () => {
  let testbed: CommandTestbed;
  let node: Testbed;
  const bert = { id: '', username: 'bert', password: 'walnut cabin of bert' };
  before(async () => {
    testbed = await CommandTestbed.start(sqlite);
    await testbed.people.createUser(bert);
    // A second node, because the testbed logs in without a second factor.
    const { database, clock } = testbed.people.server;
    node = await Testbed.start(sqlite, { database, clock, settings: { SECOND_FACTOR: 'everyone' } });
  });
  after(async () => {
    await node.stop();
    await testbed.stop();
  });

  test('sets up an app in the terminal, and prints the recovery codes once', async () => {
    const { clock } = testbed.people.server;
    const environment = { ...testbed.environment, LC_ALL: 'C.UTF-8' };
    const args = ['login', '--url', node.url, '-u', 'bert', '--profile', 'bert'];
    const { code, text } = await runOnTerminal(args, environment, [
      [/Password of bert at http/, `${bert.password}\r`],
      [/First code that the app displays/, '000000\r'],
      [/The code is wrong/, (output) => `${codeAt(/Secret +(\w+)/.exec(output)![1]!, clock.now())}\r`],
    ]);
    assert.equal(code, 0, text);
    assert.match(text, /█▀▀▀|█ ▄▄▄▄▄ █/);
    assert.match(text, /otpauth:\/\/totp\//);
    assert.equal(text.match(/^ {2}\w{4}(-\w{4}){3}\r?$/gm)?.length, 10);
    assert.match(text, /Logged in as bert at http/);
    assert.match(await testbed.runOk('whoami', '--profile', 'bert'), /^bert at /);
  });

  test('explains that the setup needs a terminal', async () => {
    const file = testbed.writeTempFile(administrator.password);
    const args = ['login', '--url', node.url, '-u', 'admin', '--password-file', file, '--profile', 'none'];
    assert.match(
      await testbed.runRefused(...args),
      /^3: The server requires a second factor of this user, and there is no terminal to set it up\./,
    );
  });
});
