/** Loaded before each test file by `node --test`: when its process ends, its times are left for whoever runs them all. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { timesVariable, type FileTimes } from './file-times.ts';
import { filesOf } from './test-groups.ts';

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: the place of utime, and the parts of a second. */
const utime = 11;
const ticks = 100;

const folder = process.env[timesVariable];
const file = process.argv[1];
// What a test starts may load this, too.
if (folder && file?.endsWith('.test.ts')) process.on('exit', () => leaveTimes(folder, file));

function leaveTimes(folder: string, file: string): void {
  const times: FileTimes = {
    file: relative('', filesOf(file)),
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
    return fields.slice(utime, utime + 4).reduce((sum, each) => sum + Number(each) / ticks, 0);
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
