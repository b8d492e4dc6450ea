/**
 * Cursors of searches. A search that examined many folders in vain ends its page at a candidate that the viewer may not
 * see. That position is encrypted: the client can send it back, but cannot read it or make one up.
 */

import { openCursor, sealCursor } from '../cursor-seal.ts';
import type { Reader } from '../database/database.ts';
import { idBytes, notACursor, type Place } from './cursor.ts';
import { bytesOf, folderIdOf } from './folder-id.ts';
import { openPosition, sealPosition } from './hidden-position.ts';

/** A position among the candidates: by number, or, for a short text, by name or title and id. */
export type Position = readonly ['number', number] | readonly ['name' | 'title', string, string];

/** The candidates that are ranked together. Usually one section holds all candidates. */
export interface Section {
  /** After this position; from the first candidate if undefined. */
  readonly start?: Position | undefined;
  /** Up to this position, inclusive; to the last candidate if undefined. */
  readonly end?: Position | undefined;
  /** How many matches the sections before it have. */
  readonly countBefore: number;
}

export interface SearchPosition {
  readonly section: Section;
  /** After this match of the section; from the best one if undefined. */
  readonly place?: Place | undefined;
}

export const wholeSearch: Section = { countBefore: 0 };

const lengthBytes = 2;
/** The size of an encrypted section must not reveal the length of the names in it: almost all fit into so many bytes. */
const paddedBytes = 1024;

/** Returns the function that makes the cursors of one section. */
export async function searchCursors(
  reader: Reader,
  list: string,
  section: Section,
): Promise<(place?: Place) => string> {
  const isWhole = section.start === undefined && section.end === undefined;
  const sealed = isWhole ? Buffer.alloc(0) : await sealSection(reader, list, section);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16BE(sealed.length);
  return (place) => sealCursor(list, Buffer.concat([length, sealed, ...(place ? bytesOfPlace(place) : [])]));
}

export async function readSearchCursor(
  reader: Reader,
  list: string,
  cursor: string,
  argument: string,
): Promise<SearchPosition> {
  const bytes = openCursor(list, cursor);
  if (!bytes || bytes.length < lengthBytes) throw notACursor(argument);
  const sealedEnd = lengthBytes + bytes.readUInt16BE(0);
  const placeBytes = bytes.subarray(sealedEnd);
  if (sealedEnd > bytes.length || (placeBytes.length > 0 && placeBytes.length < idBytes)) {
    throw notACursor(argument);
  }
  const place =
    placeBytes.length === 0
      ? undefined
      : { id: folderIdOf(placeBytes.subarray(0, idBytes)), key: placeBytes.subarray(idBytes) };
  if (sealedEnd === lengthBytes) return { section: wholeSearch, place };
  const section = await openSection(reader, list, bytes.subarray(lengthBytes, sealedEnd));
  if (!section) throw notACursor(argument);
  return { section, place };
}

function bytesOfPlace({ id, key }: Place): Uint8Array[] {
  return [bytesOf(id), key];
}

function sealSection(reader: Reader, list: string, section: Section): Promise<Uint8Array> {
  const text = Buffer.from(JSON.stringify(section));
  const padding = Buffer.alloc(paddedBytes - (text.length % paddedBytes), ' ');
  return sealPosition(reader, list, Buffer.concat([text, padding]));
}

async function openSection(reader: Reader, list: string, sealed: Uint8Array): Promise<Section | undefined> {
  const bytes = await openPosition(reader, list, sealed);
  return bytes && (JSON.parse(bytes.toString()) as Section);
}
