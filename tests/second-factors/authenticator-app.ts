/** An authenticator app, written from RFC 4226 §5.3 and RFC 6238 §4: a second implementation of the codes that the server checks. */

import { createHmac } from 'node:crypto';

export function codeAt(secret: Uint8Array, now: number, digits = 6): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const offset = digest.at(-1)! & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** Decodes Base32 (RFC 4648 §6). */
export function decodeBase32(text: string): Uint8Array {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from({ length: Math.floor(bits.length / 8) }, (_, index) =>
    parseInt(bits.slice(8 * index, 8 * index + 8), 2),
  );
}
