import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseCommand } from '../../../tests/cli/parse-command.ts';
import { UsageError } from '../config/start-error.ts';
import { copy, urlsOf } from './copy.ts';

/** The URLs of the arguments of `espalier copy`. */
const parseUrls = (args: readonly string[]) => {
  const { words, options } = parseCommand('copy', copy, args);
  return urlsOf(words, options as never);
};

const one = 'sqlite:one.db';
const other = 'postgres://me:secret@host/other';

test('takes the source and the destination from two URLs', () => {
  assert.deepEqual(parseUrls([one, other]), { fromUrl: one, toUrl: other });
});

test('reads each URL from a file instead, without the line end', () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-urls-'));
  const file = join(folder, 'url');
  writeFileSync(file, `${other}\n`);
  assert.deepEqual(parseUrls([one, '--to-file', file]), { fromUrl: one, toUrl: other });
  assert.deepEqual(parseUrls([`--from-file=${file}`, one]), { fromUrl: other, toUrl: one });
  rmSync(folder, { recursive: true });
});

test('rejects a wrong number of URLs, unknown flags and invalid URLs without displaying a password', () => {
  for (const [args, complaint] of [
    [[], /Specify two URLs/],
    [[one], /Specify two URLs/],
    [[one, other, one], /^Too many arguments/],
    [[one, `--to=${other}`], /^Unknown option '--to'\./],
    [[one, '--to-file'], /--to-file/],
    [['one.db', other], /^The source URL is not the URL of a database\. Use sqlite:/],
    [[one, 'mysql://me:secret@host/x'], /^The destination URL is not the URL of a database/],
  ] as const) {
    assert.throws(
      () => parseUrls([...args]),
      (error) =>
        error instanceof UsageError && complaint.test(error.message) && !/secret|\n/.test(error.message),
      args.join(' '),
    );
  }
});
