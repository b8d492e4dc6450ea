/** A digest of rows that is the same on every database: SHA-256 of one line of JSON for each, in the order of the key. */

import { createHash } from 'node:crypto';
import type { Row, Value } from './table-statements.ts';

export interface Digested {
  readonly count: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

export class RowDigest {
  readonly #columns: readonly string[];
  readonly #hash = createHash('sha256');
  #count = 0;

  constructor(columns: readonly string[]) {
    this.#columns = columns;
  }

  add(rows: readonly Row[]): void {
    this.#count += rows.length;
    this.#hash.update(rows.map((row) => lineOf(row, this.#columns)).join(''));
  }

  end(): Digested {
    return { count: this.#count, sha256: this.#hash.digest('hex') };
  }
}

export function isSame(one: Digested, other: Digested): boolean {
  return one.count === other.count && one.sha256 === other.sha256;
}

export function lineOf(row: Row, columns: readonly string[]): string {
  return `${JSON.stringify(columns.map((column) => plain(row[column]!)))}\n`;
}

/** No value is a list by itself: one that is holds bytes. */
function plain(value: Value): string | number | null | [base64: string] {
  if (!(value instanceof Uint8Array)) return value;
  return [Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')];
}
