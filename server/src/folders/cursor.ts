/**
 * Cursors of lists of folders: the place of a folder by what the list is ordered by, not by counting, so that it stays
 * right while others come and go.
 */

import { openCursor, sealCursor } from '../database/cursor-checksum.ts';
import { readStored } from '../database/stored-settings.ts';
import { sealBytes, openBytes } from '../database/encrypted-bytes.ts';
import type { Reader } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { toIdBytes, toFolderId } from './folder-rows.ts';
import type { ListPosition } from './cursor.ts';

/** By its key, and among equal keys by its id. */
export interface ListPosition {
  readonly key: Uint8Array;
  readonly id: string;
}

export const idBytes = 16;
/** Enough for the next 8,000 years. */
export const timeKeyBytes = 6;
/** No time has a greater key. */
export const lastTime = 2 ** (8 * timeKeyBytes) - 1;

/** `list` names the list among all lists. */
export function toCursor(list: string, { key, id }: ListPosition): string {
  return sealCursor(list, Buffer.concat([toIdBytes(id), key]));
}

/** `keyBytes` is how long the key is, where all keys of the list are as long. */
export function fromCursor(list: string, cursor: string, argument: string, keyBytes?: number): ListPosition {
  const position = openCursor(list, cursor);
  const isPlace =
    position !== undefined &&
    position.length >= idBytes &&
    (keyBytes === undefined || position.length === idBytes + keyBytes);
  if (!isPlace) throw notACursor(argument);
  return { id: toFolderId(position.subarray(0, idBytes)), key: position.subarray(idBytes) };
}

export function notACursor(argument: string): Refusal {
  return new Refusal('BAD_INPUT', `\`${argument}\` is not a cursor of this list of folders.`);
}

/** A time as a key: its bytes are in the order of time. */
export function timeKey(milliseconds: number): Uint8Array {
  const bytes = Buffer.alloc(timeKeyBytes);
  bytes.writeUIntBE(milliseconds, 0, timeKeyBytes);
  return bytes;
}

export function timeOfKey(key: Uint8Array): number {
  return Buffer.from(key).readUIntBE(0, timeKeyBytes);
}
/** `list` names the list among all lists: the position is of no use in another one. */

export async function sealPosition(reader: Reader, list: string, position: Uint8Array): Promise<Uint8Array> {
  return sealBytes(position, await readCursorKey(reader), list);
}
/** Undefined if it was not sealed here, or is of another list. */

export async function openPosition(
  reader: Reader,
  list: string,
  sealed: Uint8Array,
): Promise<Buffer | undefined> {
  const position = openBytes(sealed, await readCursorKey(reader), list);
  return position && Buffer.from(position);
}

async function readCursorKey(reader: Reader): Promise<Uint8Array> {
  const key = await readStored(reader, 'cursorKey');
  if (key === undefined) throw new Error('The installation has no key for cursors.');
  return Buffer.from(key, 'base64url');
}
/** A position among the candidates: by number, or, for a short text, by name or title and id. */

export type CandidatePosition = readonly ['number', number] | readonly ['name' | 'title', string, string];
/** The candidates that are ranked together. Usually one section holds all candidates. */

export interface Section {
  /** After this position; from the first candidate if undefined. */
  readonly start?: CandidatePosition | undefined;
  /** Up to this position, inclusive; to the last candidate if undefined. */
  readonly end?: CandidatePosition | undefined;
  /** How many matches the sections before it have. */
  readonly countBefore: number;
}

export interface SearchPosition {
  readonly section: Section;
  /** After this match of the section; from the best one if undefined. */
  readonly position?: ListPosition | undefined;
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
): Promise<(position?: ListPosition) => string> {
  const isWhole = section.start === undefined && section.end === undefined;
  const sealed = isWhole ? Buffer.alloc(0) : await sealSection(reader, list, section);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16BE(sealed.length);
  return (position) =>
    sealCursor(list, Buffer.concat([length, sealed, ...(position ? bytesOfPlace(position) : [])]));
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
  const position =
    placeBytes.length === 0
      ? undefined
      : { id: toFolderId(placeBytes.subarray(0, idBytes)), key: placeBytes.subarray(idBytes) };
  if (sealedEnd === lengthBytes) return { section: wholeSearch, position };
  const section = await openSection(reader, list, bytes.subarray(lengthBytes, sealedEnd));
  if (!section) throw notACursor(argument);
  return { section, position };
}
function bytesOfPlace({ id, key }: ListPosition): Uint8Array[] {
  return [toIdBytes(id), key];
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
