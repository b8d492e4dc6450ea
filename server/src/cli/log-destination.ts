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
const mostHeldBytes = 64 * 1024;
/** Of a letter, in UTF-8. */
const mostBytes = 3;

export interface LogDestination {
  write(line: string): void;
  /** For a line that can wait a moment for others. None is lost but with the process itself, at once. */
  hold(line: string): void;
  /** Writes what is held. */
  flush(): void;
}

export function logDestination(descriptor = 2, isTerminal = isatty(descriptor)): LogDestination {
  // Bytes, and not texts: of those, each line would leave pieces behind, to be found again when nobody has them at hand any more.
  const held = Buffer.allocUnsafe(mostHeldBytes);
  let heldBytes = 0;
  let unwritten: Buffer = Buffer.alloc(0);
  let timer: NodeJS.Timeout | undefined;

  const writeOut = (bytes: Buffer) => {
    clearTimeout(timer);
    timer = undefined;
    let rest = bytes;
    if (unwritten.length > 0) {
      rest = unwritten.length < mostKeptBytes ? Buffer.concat([unwritten, bytes]) : unwritten;
    }
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
    } catch {
      // Full, closed or slow: perhaps in a moment, perhaps with the next line.
      timer = setTimeout(flush, heldForMs).unref();
    }
    unwritten = Buffer.from(rest);
  };
  const flush = () => {
    const bytes = held.subarray(0, heldBytes);
    heldBytes = 0;
    writeOut(bytes);
  };
  const hold = (line: string) => {
    const most = line.length * mostBytes;
    if (heldBytes + most > held.length) flush();
    if (most > held.length) writeOut(Buffer.from(line));
    else heldBytes += held.write(line, heldBytes);
  };
  const write = (line: string) => {
    hold(isTerminal ? shownLogLine(line) : line);
    flush();
  };
  process.on('exit', flush);
  return {
    write,
    flush,
    hold(line) {
      // Who looks at it does not want to wait.
      if (isTerminal) return write(line);
      hold(line);
      timer ??= setTimeout(flush, heldForMs).unref();
    },
  };
}
