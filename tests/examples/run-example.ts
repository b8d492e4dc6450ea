/** An example as its user runs it: a program in a process of its own, with what it prints and how it ends. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { keepLog } from '../secrets/secret-record.ts';

export const examples = join(import.meta.dirname, '../../examples');

export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
  /** The names of files that it has left in its temporary folder. */
  readonly leftBehind: readonly string[];
}

/** Without a terminal. What it prints is searched for passwords and tokens. */
export async function runExample(
  [program, ...args]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>>,
): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-example-'));
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], TMPDIR: folder, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close') as Promise<[code: number | null]>;
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  keepLog(output + errors);
  const leftBehind = readdirSync(folder);
  rmSync(folder, { recursive: true });
  return { code, output, errors, leftBehind };
}
