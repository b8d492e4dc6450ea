/** Decodes the bytes of a file: UTF-8, or UTF-16 with a byte order mark, which spreadsheets write. */

import { FileError } from './file-error.ts';

const lineFeed = 0x0a;

/** Returns the text without a byte order mark. */
export function decodeText(bytes: Uint8Array): string {
  const utf16 = utf16Of(bytes);
  const text = utf16 ? decode(utf16, bytes) : decode('utf-8', bytes);
  if (text === undefined) {
    if (utf16) throw new FileError('This is not valid UTF-16. Save the file as UTF-8.');
    throw new FileError(
      `Line ${findInvalidLine(bytes)} is not valid UTF-8. Save the file as UTF-8, or as UTF-16 with a byte order mark.`,
    );
  }
  if (text.includes('\0')) {
    throw new FileError(
      'This is not a text file, or it is UTF-16 without a byte order mark. Save it as UTF-8.',
    );
  }
  return text;
}

function utf16Of([first, second]: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

function decode(encoding: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Decodes line by line. This is safe, because the bytes of a multi-byte character never include a line feed. */
function findInvalidLine(bytes: Uint8Array): number {
  let line = 1;
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(lineFeed, start);
    if (end < 0 || decode('utf-8', bytes.subarray(start, end)) === undefined) return line;
    start = end + 1;
  }
}
