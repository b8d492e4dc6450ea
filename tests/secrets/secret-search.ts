/** Searches for many secrets in a text in one pass, also inside longer words. */

import { minBytes, listSpellings, type Secret } from './secret.ts';

export interface FoundSecret {
  readonly kind: string;
  /** The line with every secret in it replaced. */
  readonly line: string;
}

interface Entry {
  readonly kind: string;
  readonly bytes: Buffer;
}

interface Match {
  readonly entry: Entry;
  readonly start: number;
  readonly end: number;
}

/** Secrets that are detected by their shape, recorded or not. */
const shapes: readonly { readonly kind: string; readonly shape: RegExp }[] = [
  { kind: 'something like an auth token', shape: /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/ },
  { kind: 'something like an API key', shape: /esp_[0-9A-Za-z]{54}/ },
  { kind: 'hash of a password', shape: /\$argon2\w*\$v=/ },
  { kind: 'private key', shape: /PRIVATE KEY-----|"d\\*":\\*"[\w-]{43}\\*"/ },
];

const filterBits = 24;

export class SecretSearch {
  readonly #byHash = new Map<number, Entry[]>();
  /** A Bloom filter that rules out most positions of a text with one lookup. */
  readonly #filter = new Uint8Array(2 ** (filterBits - 3));
  readonly #seen = new Set<string>();
  #tooShort = 0;

  constructor(secrets: Iterable<Secret>) {
    for (const { kind, value } of secrets) {
      if (this.#seen.has(value)) continue;
      this.#seen.add(value);
      if (Buffer.byteLength(value) < minBytes) this.#tooShort++;
      else for (const spelling of listSpellings(value)) this.#add({ kind, bytes: Buffer.from(spelling) });
    }
  }

  /** The number of secrets searched for. */
  get size(): number {
    return this.#seen.size - this.#tooShort;
  }

  /** The number of secrets that are too short to be searched for. */
  get tooShort(): number {
    return this.#tooShort;
  }

  find(text: string): FoundSecret[] {
    const bytes = Buffer.from(text);
    const matches = this.#matchesIn(bytes);
    const lines = new Map(matches.map((match) => [startOfLine(bytes, match), match.entry.kind]));
    const found = [...lines].map(([start, kind]) => {
      const end = endOfLine(bytes, start);
      const within = matches.filter((match) => match.start >= start && match.end <= end);
      return { kind, line: redactMatches(bytes.subarray(start, end), start, within) };
    });
    for (const { kind, shape } of shapes) {
      if (!shape.test(text)) continue;
      const line = text.split('\n').find((each) => shape.test(each))!;
      found.push({ kind, line: line.replace(shape, `<${kind}>`) });
    }
    return found;
  }

  /** Uses a rolling hash of the last eight bytes: each step shifts the oldest byte out. */
  #matchesIn(bytes: Buffer): Match[] {
    const matches: Match[] = [];
    const filter = this.#filter;
    let hash = 0;
    for (let end = 0; end < bytes.length; end++) {
      hash = (hash << 4) ^ bytes[end]!;
      const bit = filterBit(hash);
      if ((filter[bit >>> 3]! & (1 << (bit & 7))) === 0) continue;
      for (const entry of this.#byHash.get(hash) ?? []) {
        const start = end + 1 - entry.bytes.length;
        if (start < 0 || bytes.compare(entry.bytes, 0, entry.bytes.length, start, end + 1) !== 0) continue;
        matches.push({ entry, start, end: end + 1 });
      }
    }
    return matches;
  }

  #add(entry: Entry): void {
    let hash = 0;
    for (const byte of entry.bytes) hash = (hash << 4) ^ byte;
    const bit = filterBit(hash);
    this.#filter[bit >>> 3]! |= 1 << (bit & 7);
    const others = this.#byHash.get(hash);
    if (others) others.push(entry);
    else this.#byHash.set(hash, [entry]);
  }
}

function filterBit(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> (32 - filterBits);
}

function startOfLine(bytes: Buffer, { start }: Match): number {
  return bytes.lastIndexOf('\n', start) + 1;
}

function endOfLine(bytes: Buffer, start: number): number {
  const next = bytes.indexOf('\n', start);
  return next < 0 ? bytes.length : next;
}

function redactMatches(line: Buffer, offset: number, matches: readonly Match[]): string {
  let text = '';
  let written = 0;
  for (const { entry, start, end } of matches) {
    if (start - offset < written) continue;
    text += `${line.subarray(written, start - offset).toString()}<${entry.kind}>`;
    written = end - offset;
  }
  return text + line.subarray(written).toString();
}
