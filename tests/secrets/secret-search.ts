/** Looks for any number of secrets in any amount of text, in one pass, wherever in a word they stand. */

import { leastBytes, spellingsOf, type Secret } from './secret.ts';

export interface Found {
  readonly kind: string;
  /** Where it stands, with every secret in it blanked. */
  readonly line: string;
}

interface Entry {
  readonly kind: string;
  readonly bytes: Buffer;
}

interface Place {
  readonly entry: Entry;
  readonly start: number;
  readonly end: number;
}

/** Whoever made them, and whether or not anybody noted them. */
const shapes: readonly { readonly kind: string; readonly shape: RegExp }[] = [
  { kind: 'something like an auth token', shape: /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/ },
  { kind: 'hash of a password', shape: /\$argon2\w*\$v=/ },
  { kind: 'private key', shape: /PRIVATE KEY-----|"d\\*":\\*"[\w-]{43}\\*"/ },
];

const filterBits = 24;

export class SecretSearch {
  readonly #byHash = new Map<number, Entry[]>();
  /** Most places of a text are passed by with one look at this. */
  readonly #filter = new Uint8Array(2 ** (filterBits - 3));
  readonly #seen = new Set<string>();
  #tooShort = 0;

  constructor(secrets: Iterable<Secret>) {
    for (const { kind, value } of secrets) {
      if (this.#seen.has(value)) continue;
      this.#seen.add(value);
      if (Buffer.byteLength(value) < leastBytes) this.#tooShort++;
      else for (const spelling of spellingsOf(value)) this.#add({ kind, bytes: Buffer.from(spelling) });
    }
  }

  /** How many are looked for. */
  get size(): number {
    return this.#seen.size - this.#tooShort;
  }

  /** How many are not, since they could be a word of any text. */
  get tooShort(): number {
    return this.#tooShort;
  }

  find(text: string): Found[] {
    const bytes = Buffer.from(text);
    const places = this.#placesIn(bytes);
    const lines = new Map(places.map((place) => [startOfLine(bytes, place), place.entry.kind]));
    const found = [...lines].map(([start, kind]) => {
      const end = endOfLine(bytes, start);
      const within = places.filter((place) => place.start >= start && place.end <= end);
      return { kind, line: blanked(bytes.subarray(start, end), start, within) };
    });
    for (const { kind, shape } of shapes) {
      if (!shape.test(text)) continue;
      const line = text.split('\n').find((each) => shape.test(each))!;
      found.push({ kind, line: line.replace(shape, `<${kind}>`) });
    }
    return found;
  }

  /** A hash of the last eight bytes, made from the one of a byte before: the ninth has been shifted out. */
  #placesIn(bytes: Buffer): Place[] {
    const places: Place[] = [];
    const filter = this.#filter;
    let hash = 0;
    for (let end = 0; end < bytes.length; end++) {
      hash = (hash << 4) ^ bytes[end]!;
      const bit = bitOf(hash);
      if ((filter[bit >>> 3]! & (1 << (bit & 7))) === 0) continue;
      for (const entry of this.#byHash.get(hash) ?? []) {
        const start = end + 1 - entry.bytes.length;
        if (start < 0 || bytes.compare(entry.bytes, 0, entry.bytes.length, start, end + 1) !== 0) continue;
        places.push({ entry, start, end: end + 1 });
      }
    }
    return places;
  }

  #add(entry: Entry): void {
    let hash = 0;
    for (const byte of entry.bytes) hash = (hash << 4) ^ byte;
    const bit = bitOf(hash);
    this.#filter[bit >>> 3]! |= 1 << (bit & 7);
    const others = this.#byHash.get(hash);
    if (others) others.push(entry);
    else this.#byHash.set(hash, [entry]);
  }
}

function bitOf(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> (32 - filterBits);
}

function startOfLine(bytes: Buffer, { start }: Place): number {
  return bytes.lastIndexOf('\n', start) + 1;
}

function endOfLine(bytes: Buffer, start: number): number {
  const next = bytes.indexOf('\n', start);
  return next < 0 ? bytes.length : next;
}

function blanked(line: Buffer, offset: number, places: readonly Place[]): string {
  let text = '';
  let written = 0;
  for (const { entry, start, end } of places) {
    if (start - offset < written) continue;
    text += `${line.subarray(written, start - offset).toString()}<${entry.kind}>`;
    written = end - offset;
  }
  return text + line.subarray(written).toString();
}
