/** What processes have used of the CPU, by the count of Linux. */

import { readdirSync, readFileSync } from 'node:fs';

/** Of `cutime`, wherever Linux runs today. */
const ticksPerSecond = 100;

/** Of a process with all its threads, since its start. */
export function cpuMicroseconds(pid: number): number {
  return entriesOf(`/proc/${pid}/task`).reduce((sum, task) => sum + threadMicroseconds(pid, task), 0);
}

/** Of a process and its children, with those that have ended; since its start. */
export function familyCpuMicroseconds(pid: number): number {
  const { endedChildrenTicks } = statusOf(pid)!;
  const living = [pid, ...childrenOf(pid)].reduce((sum, each) => sum + cpuMicroseconds(each), 0);
  return living + (endedChildrenTicks * 1e6) / ticksPerSecond;
}

/** Of a process and of all that it started, and they, as far as they live; since their starts. */
export function treeCpuMicroseconds(pid: number): number {
  return [pid, ...descendantsOf(pid)].reduce((sum, each) => sum + cpuMicroseconds(each), 0);
}

export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

export function childrenOf(parent: number): number[] {
  return entriesOf('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && statusOf(pid)?.parent === parent);
}

export function parentOf(pid: number): number {
  return statusOf(pid)!.parent;
}

/** https://docs.kernel.org/scheduler/sched-stats.html: nanoseconds, where `stat` has hundredths of a second. */
function threadMicroseconds(pid: number, task: string): number {
  const text = readIfThere(`/proc/${pid}/task/${task}/schedstat`);
  return text === undefined ? 0 : Number(text.split(' ')[0]) / 1000;
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function statusOf(pid: number): { parent: number; endedChildrenTicks: number } | undefined {
  const text = readIfThere(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(fields[1]), endedChildrenTicks: Number(fields[13]) + Number(fields[14]) };
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // It has ended meanwhile.
    return [];
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
