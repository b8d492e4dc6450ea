/** The machine that a measurement was taken on: what it can do, and nothing by which it is known to others. */

import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

export function describeMachine() {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()}`,
    node: process.versions.node,
  };
}
