/** A test server, and CLI commands of users who are logged in to it. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseKind } from '../support/databases.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { administrator, type TestbedOptions } from '../support/testbed.ts';
import { runInHost, type CommandResult } from '../support/espalier-command.ts';

export class CommandTestbed {
  readonly people: PeopleTestbed;
  readonly folder: string;
  #files = 0;

  /** Starts a server and logs in the administrator under the profile `default`. */
  static async start(kind: DatabaseKind, options?: TestbedOptions): Promise<CommandTestbed> {
    const people = await PeopleTestbed.start(kind, options);
    const folder = mkdtempSync(join(tmpdir(), 'espalier-commands-'));
    const testbed = new CommandTestbed(people, folder);
    await testbed.logIn({ id: '', ...administrator }, 'default');
    return testbed;
  }

  private constructor(people: PeopleTestbed, folder: string) {
    this.people = people;
    this.folder = folder;
  }

  get environment(): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', XDG_CONFIG_HOME: this.folder };
  }

  async stop(): Promise<void> {
    await this.people.stop();
    rmSync(this.folder, { recursive: true });
  }

  async run(...args: string[]): Promise<CommandResult> {
    return runInHost(args, this.environment);
  }

  /** Returns the output of a command that must succeed. */
  async runOk(...args: string[]): Promise<string> {
    const { code, output, errors } = await this.run(...args);
    assert.deepEqual({ code, errors }, { code: 0, errors: '' }, args.join(' '));
    return output;
  }

  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.runOk(...args, '--json')) as T;
  }

  /** Returns the exit code and the single error line of a command that must fail. */
  async runRefused(...args: string[]): Promise<string> {
    const { code, output, errors } = await this.run(...args);
    assert.notEqual(code, 0, `${args.join(' ')}: ${output}`);
    assert.match(errors, /^espalier: [^\n]+\n$/);
    return `${code}: ${errors.slice('espalier: '.length, -1)}`;
  }

  /** Logs in under a profile for `--profile`. */
  async logIn({ username, password }: Person, profile = username): Promise<void> {
    const args = ['--url', this.people.server.url, '--username', username, '--profile', profile];
    await this.runOk('login', ...args, '--password-file', this.writeTempFile(password));
  }

  writeTempFile(text: string): string {
    const path = join(this.folder, `file-${++this.#files}`);
    writeFileSync(path, text);
    return path;
  }
}
