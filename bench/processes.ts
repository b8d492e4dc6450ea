/** CPU time of processes as Linux counts it, and the core that a process runs on. */

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** The unit of `cutime` on every current Linux. */
const ticksPerSecond = 100;

/** CPU time of a process with all its threads, since it started. */
export function readCpuMicroseconds(pid: number): number {
  return listEntries(`/proc/${pid}/task`).reduce((sum, task) => sum + readThreadMicroseconds(pid, task), 0);
}

/** CPU time of a process, of its living descendants, and of its own children that have ended. */
export function readFamilyCpuMicroseconds(pid: number): number {
  const living = [pid, ...listDescendants(pid)].reduce((sum, each) => sum + readCpuMicroseconds(each), 0);
  return living + ((readStatus(pid)?.endedChildrenTicks ?? 0) * 1e6) / ticksPerSecond;
}

export function listDescendants(pid: number): number[] {
  return listChildren(pid).flatMap((child) => [child, ...listDescendants(child)]);
}

export function listChildren(parent: number): number[] {
  return listEntries('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && readStatus(pid)?.parent === parent);
}

export function readParent(pid: number): number {
  return readStatus(pid)!.parent;
}

/** Resident memory in bytes. */
export function readResidentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readIfPresent(`/proc/${pid}/status`) ?? '')?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

export const serverCore = 0;
export const loadCore = 1;

/** Pins a process and its descendants to a core. Does nothing on one core or without `taskset`. */
export function pinToCore(pid: number, core: number): void {
  if (availableParallelism() < 2) return;
  for (const each of [pid, ...listDescendants(pid)]) {
    try {
      const flags = ['--all-tasks', '--cpu-list', '--pid', String(core), String(each)];
      execFileSync('taskset', flags, { stdio: 'ignore' });
    } catch {
      // The process has ended, or there is no taskset. The figures are then less stable, but still correct.
    }
  }
}

/** https://docs.kernel.org/scheduler/sched-stats.html: in nanoseconds. `stat` has only hundredths of a second. */
function readThreadMicroseconds(pid: number, task: string): number {
  const text = readIfPresent(`/proc/${pid}/task/${task}/schedstat`);
  return text === undefined ? 0 : Number(text.split(' ')[0]) / 1000;
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function readStatus(pid: number): { parent: number; endedChildrenTicks: number } | undefined {
  const text = readIfPresent(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(fields[1]), endedChildrenTicks: Number(fields[13]) + Number(fields[14]) };
}

function listEntries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The process has ended.
    return [];
  }
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process has ended.
    return undefined;
  }
}
