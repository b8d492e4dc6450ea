/** `espalier login --sso` on a terminal, while Chromium completes the page of the provider. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { ctrlC, startOnTerminal } from '../cli/pseudo-terminal.ts';
import { assertAccessible } from '../console/accessibility.ts';
import { databaseKinds } from '../support/databases.ts';
import { runEspalier } from '../support/espalier-command.ts';
import { BrowserTestbed } from './browser-testbed.ts';

const addressPattern = /http:\/\/127\.0\.0\.1:\d+\/login\/sso\?[\w=&%.-]+redirect_uri=[\w%.-]+/;

for (const kind of databaseKinds) {
  describe(`a login with --sso on ${kind.name}`, { timeout: 300_000 }, () => {
    let testbed: BrowserTestbed;
    let folder: string;
    before(async () => {
      testbed = await BrowserTestbed.start(kind);
      testbed.provider.addUser('ada');
      folder = mkdtempSync(join(tmpdir(), 'espalier-sso-'));
    });
    afterEach(() => {
      rmSync(join(folder, 'espalier'), { recursive: true, force: true });
      return testbed.closeTabs();
    });
    after(async () => {
      await testbed.stop();
      rmSync(folder, { recursive: true });
    });

    const environment = (more: Record<string, string> = {}) => ({
      XDG_CONFIG_HOME: folder,
      LC_ALL: 'C.UTF-8',
      ...more,
    });
    const profile = () => join(folder, 'espalier/profiles/default.json');
    const start = (more: string[] = [], variables: Record<string, string> = {}) =>
      startOnTerminal(['login', '--sso', '--url', testbed.proxy.url, ...more], environment(variables));
    /** A long address is wrapped at the width of the terminal only on the screen, not in the output. */
    const readAddress = (text: string) => addressPattern.exec(text)![0];

    test('stores the session of the user who logs in at the provider', async () => {
      const terminal = start(['--no-browser']);
      const address = readAddress(await terminal.waitFor(addressPattern));
      const page = await testbed.newTab();
      await page.goto(address);
      await testbed.submitToProvider(page, 'ada');
      await page.getByRole('heading', { name: /^Sign in to 127\.0\.0\.1:\d+ in a program/ }).waitFor();
      await page.getByText('You are signed in at Test provider as ada.').waitFor();
      await assertAccessible(page);
      await page.getByRole('link', { name: 'Continue' }).click();
      await page.getByRole('heading', { name: 'You are logged in' }).waitFor();
      await page.getByText('You can close this window').waitFor();
      const { code, text } = await terminal.end;
      assert.equal(code, 0, text);
      assert.match(text, /Log in with Test provider in your browser:/);
      assert.match(text, /Logged in as ada at http/);
      assert.equal(statSync(profile()).mode & 0o777, 0o600);
      const { username, tokens } = JSON.parse(readFileSync(profile(), 'utf8')) as {
        username: string;
        tokens: { authToken: string; refreshToken: string };
      };
      assert.equal(username, 'ada');
      assert.ok(!text.includes(tokens.authToken) && !text.includes(tokens.refreshToken));
      const who = await runEspalier(['whoami'], { environment: environment() });
      assert.match(who.output, /^ada at http/);
    });

    test('opens the browser of the user', async () => {
      const script = join(folder, 'browser');
      const opened = join(folder, 'opened');
      writeFileSync(
        script,
        `#!/bin/sh\nprintf %s "$1" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`,
        {
          mode: 0o700,
        },
      );
      const seen = waitForFile(folder, 'opened');
      const terminal = start([], { BROWSER: script });
      const address = readAddress(await terminal.waitFor(/Waiting for the browser/));
      assert.match(terminal.text(), /in your browser, which opens now:/);
      await seen;
      assert.equal(readFileSync(opened, 'utf8'), address);
      terminal.type(ctrlC);
      assert.equal((await terminal.end).code, 130);
    });

    test('ends on Ctrl-C without a session, and closes its port', async () => {
      const terminal = start(['--no-browser']);
      const address = readAddress(await terminal.waitFor(/Waiting for the browser/));
      terminal.type(ctrlC);
      const { code, text } = await terminal.end;
      assert.equal(code, 130, text);
      assert.equal(existsSync(profile()), false);
      await assert.rejects(fetch(new URL(address).searchParams.get('redirect_uri')!));
    });

    test('reports that the provider refused the user, in the browser and in the terminal', async () => {
      const terminal = start(['--no-browser']);
      const address = readAddress(await terminal.waitFor(addressPattern));
      const page = await testbed.newTab();
      await page.goto(address);
      await testbed.submitToProvider(page, 'stranger');
      await page.getByRole('heading', { name: 'The login failed' }).waitFor();
      const { code, text } = await terminal.end;
      assert.equal(code, 1, text);
      assert.match(text, /espalier: The provider did not sign you in/);
      assert.equal(existsSync(profile()), false);
    });

    test('prints how to forward the port over SSH, and opens no browser', async () => {
      const terminal = start([], { SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22', DISPLAY: ':0' });
      const address = readAddress(await terminal.waitFor(/Waiting for the browser/));
      const { port } = new URL(new URL(address).searchParams.get('redirect_uri')!);
      assert.match(
        terminal.text(),
        new RegExp(`ssh -N -L ${port}:127\\.0\\.0\\.1:${port} \\w+@192\\.0\\.2\\.2`),
      );
      assert.doesNotMatch(terminal.text(), /opens now/);
      terminal.type(ctrlC);
      assert.equal((await terminal.end).code, 130);
    });

    test('cannot be combined with a user name or a password', async () => {
      for (const options of [['-u', 'ada'], ['--password-stdin']]) {
        const args = ['login', '--sso', '--url', testbed.proxy.url, ...options];
        assert.equal((await runEspalier(args, { environment: environment() })).code, 2, options[0]);
      }
      const args = ['login', '--no-browser', '--url', testbed.proxy.url];
      const { code, errors } = await runEspalier(args, { environment: environment() });
      assert.deepEqual([code, errors], [2, 'espalier: --no-browser needs --sso.\n']);
    });
  });
}

function waitForFile(folder: string, name: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, (_, changed) => {
      if (changed !== name) return;
      watcher.close();
      resolve();
    });
  });
}
