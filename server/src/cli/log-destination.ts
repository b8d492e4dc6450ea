/**
 * Where the log goes: standard error, as JSON lines, or in words if that is a terminal. When it takes nothing, as a file on
 * a full disk or a pipe that nobody reads, the server goes on: pino's own destination would try again until it can be
 * written, and let everybody wait meanwhile.
 */

import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { shownLogLine } from './shown-log-line.ts';

/** Kept until there is room; what comes then is lost. */
const mostKeptBytes = 2 ** 20;
/** Held for so long, at most so much: the lines of thousands of requests are written at once. */
const heldForMs = 100;
const mostHeldCharacters = 64 * 1024;

export interface LogDestination {
  write(line: string): void;
  /** For a line that can wait a moment for others. None is lost but with the process itself, at once. */
  hold(line: string): void;
  /** Writes what is held. */
  flush(): void;
}

export function logDestination(descriptor = 2, isTerminal = isatty(descriptor)): LogDestination {
  let held = '';
  let timer: NodeJS.Timeout | undefined;
  let unwritten = Buffer.alloc(0);

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (unwritten.length < mostKeptBytes) unwritten = Buffer.concat([unwritten, Buffer.from(held)]);
    held = '';
    try {
      while (unwritten.length > 0) unwritten = unwritten.subarray(writeSync(descriptor, unwritten));
    } catch {
      // Full, closed or slow: perhaps in a moment, perhaps with the next line.
      timer = setTimeout(flush, heldForMs).unref();
    }
  };
  const write = (line: string) => {
    held += isTerminal ? shownLogLine(line) : line;
    flush();
  };
  process.on('exit', flush);
  return {
    write,
    flush,
    hold(line) {
      // Who looks at it does not want to wait.
      if (isTerminal) return write(line);
      held += line;
      if (held.length > mostHeldCharacters) flush();
      else timer ??= setTimeout(flush, heldForMs).unref();
    },
  };
}
