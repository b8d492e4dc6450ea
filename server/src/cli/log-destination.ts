/**
 * Where the log goes: standard error. When that takes nothing, as a file on a full disk or a pipe that nobody reads, the
 * server goes on: pino's own destination would try again until it can be written, and let everybody wait meanwhile.
 */

import { writeSync } from 'node:fs';

/** Kept until there is room; what comes then is lost. */
const mostKeptBytes = 2 ** 20;

export function logDestination(descriptor = 2): { write(line: string): void } {
  let unwritten = Buffer.alloc(0);
  return {
    write(line) {
      if (unwritten.length < mostKeptBytes) unwritten = Buffer.concat([unwritten, Buffer.from(line)]);
      try {
        while (unwritten.length > 0) unwritten = unwritten.subarray(writeSync(descriptor, unwritten));
      } catch {
        // Full, closed or slow: perhaps with the next line.
      }
    },
  };
}
