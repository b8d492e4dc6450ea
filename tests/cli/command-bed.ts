/** A test server, and the commands of somebody who is logged in there. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseKind } from '../support/databases.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { administrator, type TestbedOptions } from '../support/testbed.ts';
import { runInHost, type CommandResult } from '../support/espalier-command.ts';

export class CommandBed {
  readonly people: PeopleTestbed;
  readonly folder: string;
  #files = 0;

  /** With the administrator logged in, under the name `default`. */
  static async start(kind: DatabaseKind, options?: TestbedOptions): Promise<CommandBed> {
    const people = await PeopleTestbed.start(kind, options);
    const folder = mkdtempSync(join(tmpdir(), 'espalier-commands-'));
    const bed = new CommandBed(people, folder);
    await bed.logIn({ id: '', ...administrator }, 'default');
    return bed;
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

  /** What it printed, of a command that must be done. */
  async done(...args: string[]): Promise<string> {
    const { code, output, errors } = await this.run(...args);
    assert.deepEqual({ code, errors }, { code: 0, errors: '' }, args.join(' '));
    return output;
  }

  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.done(...args, '--json')) as T;
  }

  /** The exit code and the one line, of a command that must not be done. */
  async refused(...args: string[]): Promise<string> {
    const { code, output, errors } = await this.run(...args);
    assert.notEqual(code, 0, `${args.join(' ')}: ${output}`);
    assert.match(errors, /^espalier: [^\n]+\n$/);
    return `${code}: ${errors.slice('espalier: '.length, -1)}`;
  }

  /** Under a name of their own, for `--profile`. */
  async logIn({ username, password }: Person, profile = username): Promise<void> {
    const given = ['--url', this.people.testbed.url, '--username', username, '--profile', profile];
    await this.done('login', ...given, '--password-file', this.fileOf(password));
  }

  fileOf(text: string): string {
    const path = join(this.folder, `file-${++this.#files}`);
    writeFileSync(path, text);
    return path;
  }
}
