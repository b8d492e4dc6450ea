/**
 * A server from packages in its own process: starts it, checks that it is ready and has its console, logs in, and stops
 * it.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { recordLog, recordOutput } from '../secrets/secret-record.ts';

export interface ServeOptions {
  readonly folder: string;
  readonly path: string;
  /** Called while the server runs. */
  readonly use?: (server: { readonly url: string; readonly password: string }) => Promise<void>;
}

/** Returns the whole output after the server has ended. */
export async function serveAndStop(
  [program, ...args]: readonly [string, ...string[]],
  { folder, path, use }: ServeOptions,
): Promise<string> {
  const server = spawn(program, args, {
    cwd: folder,
    env: { PATH: path, HOME: process.env['HOME'], ESPALIER_PORT: '0', npm_config_loglevel: 'error' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // In its own process group, so that a signal reaches all processes like Ctrl-C.
    detached: true,
  });
  let output = '';
  let errors = '';
  const ended = once(server, 'close');
  server.stdout.on('data', (text: Buffer) => (output += text.toString()));
  server.stderr.on('data', (text: Buffer) => (errors += text.toString()));
  try {
    while (!output.includes('Stop with Ctrl-C.')) {
      await Promise.race([once(server.stdout, 'data'), ended]);
      assert.equal(server.exitCode, null, output + errors);
    }
    const url = /API +(\S+)/.exec(output)![1]!;
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    const page = await fetch(`${url}/console/`);
    assert.match(await page.text(), /src="\/console\/assets\/[^"]+\.js"/);
    const password = /Password +(\S+)/.exec(output)![1]!;
    const login = await fetch(`${url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password }),
    });
    assert.equal(login.status, 200);
    await use?.({ url, password });
  } finally {
    if (server.exitCode === null) process.kill(-server.pid!, 'SIGTERM');
    await ended;
    recordOutput(output);
    recordLog(errors);
  }
  const expected = /^$|"msg":"(created a new, empty installation|request|started|stopping|stopped)"/;
  const unexpected = errors.split('\n').filter((line) => !expected.test(line));
  assert.deepEqual(unexpected, []);
  return output;
}
