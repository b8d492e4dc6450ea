/** `espalier completion`: the scripts complete a command line in bash, fish and zsh. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { requireProgram } from '../runner/debian-packages.ts';
import { program, runEspalier } from '../support/espalier-command.ts';

/** The last word of each command line is completed to the word on the right. */
const expected: Readonly<Record<string, string>> = {
  who: 'whoami',
  'user delete --y': '--yes',
  'grant create id:abc m': 'manage',
  'journal --kind=move-': '--kind=move-folder',
  'user create bob --password-file pass': 'pass word',
  'user create bob --password-file=pass': '--password-file=pass word',
};

describe('the completion script', () => {
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-completion-'));
    mkdirSync(join(folder, 'bin'));
    // Records each command line, and calls the program only for proposals.
    const wrapper = `#!/bin/sh
      [ "$1" = __complete ] && exec '${process.execPath}' --conditions=espalier-source '${program}' "$@"
      for last; do :; done; printf '%s\\n' "$last" >> '${folder}/lines'`;
    writeFileSync(join(folder, 'bin', 'espalier'), wrapper, { mode: 0o755 });
    mkdirSync(join(folder, 'files'));
    writeFileSync(join(folder, 'files', 'pass word'), '');
    for (const shell of ['bash', 'fish', 'zsh']) {
      writeFileSync(join(folder, shell), (await runEspalier(['completion', shell])).output);
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  async function runShell(shell: string, args: readonly string[]): Promise<string> {
    const env = { PATH: `${folder}/bin:${process.env['PATH']}`, HOME: folder, LC_ALL: 'C.UTF-8' };
    return (await promisify(execFile)(shell, args, { cwd: join(folder, 'files'), env })).stdout;
  }

  test('completes in bash', async () => {
    // Bash splits words at these characters and passes only the part after them to the script.
    const split = (line: string) => ['espalier', ...line.split(/ |(?<=[=:])|(?=[=:])/)];
    const call = `. ../bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _espalier; printf '%s\\n' "\${COMPREPLY[@]}"`;
    for (const [line, word] of Object.entries(expected)) {
      const completion = await runShell('bash', ['-c', call, 'bash', ...split(line)]);
      assert.equal(completion, `${word.replace(/^--.*=/, '')}\n`, line);
    }
  });

  test('completes in fish', async () => {
    for (const [line, word] of Object.entries(expected)) {
      const call = `source ../fish; complete --do-complete '${`espalier ${line}`}'`;
      const found = await runShell(requireProgram('fish'), ['--no-config', '-c', call]);
      assert.equal(found.split(/[\t\n]/)[0], word, line);
    }
  });

  test('completes in zsh', async () => {
    // Only an interactive zsh completes words. Tab completes and runs a line. The next line waits for the prompt.
    const driver = String.raw`
      zmodload zsh/zpty
      zpty terminal 'PS1="<ready>" zsh -f -i'
      zpty -w terminal 'autoload -Uz compinit; compinit -u -D; . ../zsh; clear'
      zpty -w terminal 'run() { zle complete-word; zle accept-line }; zle -N run; bindkey "^I" run; clear'
      zpty -r -m terminal screen '*<ready>*<ready>*<ready>*'
      for line; do zpty -w -n terminal "espalier $line"$'\t'; zpty -r -m terminal screen '*<ready>*'; done`;
    await runShell(requireProgram('zsh'), ['-f', '-c', driver, 'zsh', ...Object.keys(expected)]);
    assert.deepEqual(readFileSync(join(folder, 'lines'), 'utf8').trim().split('\n'), Object.values(expected));
  });
});
