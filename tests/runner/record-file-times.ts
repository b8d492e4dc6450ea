/** Loaded before each test file by `node --test`. Records the times of the process when it exits. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { timesVariable, type FileTimes } from './file-times.ts';
import { describeStartedFiles } from './test-groups.ts';

/**
 * The index of utime in the fields after the name, and the clock ticks per second:
 * https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
const utimeIndex = 11;
const ticksPerSecond = 100;

const folder = process.env[timesVariable];
const file = process.argv[1];
// Processes that a test starts may load this file as well.
if (folder && file?.endsWith('.test.ts')) process.on('exit', () => recordTimes(folder, file));

function recordTimes(folder: string, file: string): void {
  const times: FileTimes = {
    file: relative('', describeStartedFiles(file)),
    seconds: performance.now() / 1000,
    cpuSeconds: cpuSeconds(),
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(times));
}

function cpuSeconds(): number {
  try {
    const status = readFileSync('/proc/self/stat', 'utf8');
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return fields
      .slice(utimeIndex, utimeIndex + 4)
      .reduce((sum, each) => sum + Number(each) / ticksPerSecond, 0);
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
