/** Converts a PNG to a palette of 256 colors, which halves its size. Similar colors become one color. */

import { crc32, deflateSync, inflateSync } from 'node:zlib';

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Row by row, each pixel as one number: red, green, blue. */
  readonly pixels: Uint32Array;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const bytesOfColorType: Readonly<Record<number, number>> = { 2: 3, 6: 4 };
const maxColors = 256;

/** Expects a PNG as Chromium writes it, with eight bits per channel. Ignores alpha. */
export function compressPng(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png);
  const { palette, indexOf } = createPalette(pixels);
  const rows = Buffer.alloc((width + 1) * height);
  // Each row starts with its filter type. 0 is none, which compresses palettes best.
  pixels.forEach((color, at) => (rows[at + Math.floor(at / width) + 1] = indexOf.get(color)!));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const colors = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]));
  return Buffer.concat([
    signature,
    createChunk('IHDR', header),
    createChunk('PLTE', colors),
    createChunk('IDAT', deflateSync(rows, { level: 9 })),
    createChunk('IEND', Buffer.alloc(0)),
  ]);
}

function createChunk(name: string, content: Buffer): Buffer {
  const namedContent = Buffer.concat([Buffer.from(name), content]);
  const chunk = Buffer.alloc(namedContent.length + 8);
  chunk.writeUInt32BE(content.length, 0);
  namedContent.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(namedContent), namedContent.length + 4);
  return chunk;
}

/**
 * Adds the most frequent colors first. A color within the tolerance of a palette color gets the index of that color.
 */
function createPalette(pixels: Uint32Array) {
  const counts = new Map<number, number>();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  const colors = [...counts.keys()].sort((one, other) => counts.get(other)! - counts.get(one)!);
  for (let tolerance = 0; ; tolerance += 2) {
    const palette: number[] = [];
    const indexOf = new Map<number, number>();
    for (const color of colors) {
      const similarIndex = palette.findIndex((one) => distance(one, color) <= tolerance);
      indexOf.set(color, similarIndex >= 0 ? similarIndex : palette.push(color) - 1);
      if (palette.length > maxColors) break;
    }
    if (palette.length <= maxColors) return { palette, indexOf };
  }
}

function distance(one: number, other: number): number {
  const differences = [16, 8, 0].map((bits) => Math.abs(((one >> bits) & 255) - ((other >> bits) & 255)));
  return Math.max(...differences);
}

function decode(png: Buffer): Picture {
  const parts: Buffer[] = [];
  let [width, height, size] = [0, 0, 0];
  for (let at = signature.length; at < png.length; at += png.readUInt32BE(at) + 12) {
    const name = png.toString('latin1', at + 4, at + 8);
    const content = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    if (name === 'IDAT') parts.push(content);
    if (name !== 'IHDR') continue;
    [width, height, size] = [
      content.readUInt32BE(0),
      content.readUInt32BE(4),
      bytesOfColorType[content[9]!] ?? 0,
    ];
    if (size === 0 || content[8] !== 8) throw new Error('This PNG format is not supported.');
  }
  const bytes = unfilter(inflateSync(Buffer.concat(parts)), width * size, size);
  const pixels = new Uint32Array(width * height);
  for (let at = 0; at < pixels.length; at++) pixels[at] = bytes.readUIntBE(at * size, 3);
  return { width, height, pixels };
}

/** https://www.w3.org/TR/png-3/#9Filters */
function unfilter(rows: Buffer, length: number, size: number): Buffer {
  const rowCount = rows.length / (length + 1);
  const bytes = Buffer.alloc(length * rowCount);
  for (let row = 0; row < rowCount; row++) {
    const filter = rows[row * (length + 1)]!;
    for (let at = 0; at < length; at++) {
      const index = row * length + at;
      const left = at >= size ? bytes[index - size]! : 0;
      const up = row > 0 ? bytes[index - length]! : 0;
      const corner = at >= size && row > 0 ? bytes[index - length - size]! : 0;
      const prediction = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!;
      bytes[index] = rows[row * (length + 1) + 1 + at]! + prediction;
    }
  }
  return bytes;
}

function paeth(left: number, up: number, corner: number): number {
  const [toLeft, toUp, toCorner] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs) as [
    number,
    number,
    number,
  ];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
