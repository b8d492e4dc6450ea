/** Checks that systemd accepts the unit, and that the unit gives a node enough time to stop. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { requireProgram } from '../runner/debian-packages.ts';

const unit = readFileSync(join(import.meta.dirname, '../../deploy/espalier.service'), 'utf8');
const valueOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];

describe('deploy/espalier.service', () => {
  test('passes systemd-analyze verify without output', () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-unit-'));
    try {
      const file = join(folder, 'espalier.service');
      // systemd-analyze checks that the program exists, and it is not installed here.
      const program = /^ExecStart=\S+/m;
      assert.match(unit, program);
      writeFileSync(file, unit.replace(program, `ExecStart=${process.execPath}`));
      const { status, stdout, stderr } = spawnSync(requireProgram('systemd'), ['verify', '--man=no', file], {
        encoding: 'utf8',
      });
      assert.deepEqual({ status, output: stdout + stderr }, { status: 0, output: '' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('gives a node enough time to stop', () => {
    const [, delay] = /^Environment=ESPALIER_STOP_DELAY_SECONDS=(\d+)$/m.exec(unit)!;
    assert.ok(Number(valueOf('TimeoutStopSec')) > Number(delay) + 10 + 2);
  });

  test('loads each secret that a setting names', () => {
    const namesInSettings = [...unit.matchAll(/^Environment=ESPALIER_\w+_FILE=%d\/(.+)$/gm)].map(
      ([, name]) => name,
    );
    const loadedNames = [...unit.matchAll(/^LoadCredential=(.+):/gm)].map(([, name]) => name);
    assert.ok(namesInSettings.length > 0);
    assert.deepEqual(namesInSettings, loadedNames);
  });

  test('allows executable memory, because V8 compiles at run time', () => {
    assert.equal(valueOf('MemoryDenyWriteExecute'), undefined);
  });
});
