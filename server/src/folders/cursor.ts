/**
 * Cursors of lists of folders. A cursor holds the sort key of a folder, not its index, so that it stays correct while folders are
 * added and removed. A position that may be that of a hidden folder is encrypted: the client can send it back, but cannot read it
 * or make one up.
 */

import { decodeCursor, encodeCursor } from '../database/cursor-encoding.ts';
import { readSetting } from '../database/installation-values.ts';
import { encryptBytes, decryptBytes } from '../database/encrypted-bytes.ts';
import type { Reader } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { toIdBytes, toFolderId } from './folder-rows.ts';

/** The position of a folder in a list: its sort key, and its id among equal keys. */
export interface ListPosition {
  readonly key: Uint8Array;
  readonly id: string;
}

export const idBytes = 16;
/** Enough for the next 8,000 years. */
export const timeKeyBytes = 6;
/** No time has a greater key. */
export const lastTime = 2 ** (8 * timeKeyBytes) - 1;

/** `list` identifies the list. A cursor is valid only in its own list. */
export function toCursor(list: string, { key, id }: ListPosition): string {
  return encodeCursor(list, Buffer.concat([toIdBytes(id), key]));
}

/** `keyBytes` is the length of the keys, for lists in which all keys have the same length. */
export function fromCursor(list: string, cursor: string, argument: string, keyBytes?: number): ListPosition {
  const position = decodeCursor(list, cursor);
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

/** A key whose byte order is the order of time. */
export function timeKey(milliseconds: number): Uint8Array {
  const bytes = Buffer.alloc(timeKeyBytes);
  bytes.writeUIntBE(milliseconds, 0, timeKeyBytes);
  return bytes;
}

export function timeOfKey(key: Uint8Array): number {
  return Buffer.from(key).readUIntBE(0, timeKeyBytes);
}

/** Encrypts a position of the list `list`. */
export async function sealPosition(reader: Reader, list: string, position: Uint8Array): Promise<Uint8Array> {
  return encryptBytes(position, await readCursorKey(reader), list);
}

/** Undefined if the position was not encrypted here, or belongs to another list. */
export async function openPosition(
  reader: Reader,
  list: string,
  sealed: Uint8Array,
): Promise<Buffer | undefined> {
  const position = decryptBytes(sealed, await readCursorKey(reader), list);
  return position && Buffer.from(position);
}

async function readCursorKey(reader: Reader): Promise<Uint8Array> {
  const key = await readSetting(reader, 'cursorKey');
  if (key === undefined) throw new Error('The installation has no key for cursors.');
  return Buffer.from(key, 'base64url');
}

/** A position among the candidates of a search: by number, or, for a short text, by name or title and id. */
export type CandidatePosition = readonly ['number', number] | readonly ['name' | 'title', string, string];
/**
 * The candidates of a search that are ranked together. Usually one section holds all candidates. A search that examined many folders
 * in vain ends its page, and its section, at a candidate that the viewer may not see.
 */
export interface Section {
  /** After this position; from the first candidate if undefined. */
  readonly start?: CandidatePosition | undefined;
  /** Up to this position, inclusive; to the last candidate if undefined. */
  readonly end?: CandidatePosition | undefined;
  /** The number of matches in the sections before. */
  readonly countBefore: number;
}

export interface SearchPosition {
  readonly section: Section;
  /** After this match of the section; from the best one if undefined. */
  readonly position?: ListPosition | undefined;
}

export const wholeSearch: Section = { countBefore: 0 };
const lengthBytes = 2;
/** Sections are padded to a multiple of this, so that their size does not reveal the length of the names in them. */
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
    encodeCursor(
      list,
      Buffer.concat([length, sealed, ...(position ? [toIdBytes(position.id), position.key] : [])]),
    );
}

export async function readSearchCursor(
  reader: Reader,
  list: string,
  cursor: string,
  argument: string,
): Promise<SearchPosition> {
  const bytes = decodeCursor(list, cursor);
  if (!bytes || bytes.length < lengthBytes) throw notACursor(argument);
  const sealedEnd = lengthBytes + bytes.readUInt16BE(0);
  const positionBytes = bytes.subarray(sealedEnd);
  if (sealedEnd > bytes.length || (positionBytes.length > 0 && positionBytes.length < idBytes)) {
    throw notACursor(argument);
  }
  const position =
    positionBytes.length === 0
      ? undefined
      : { id: toFolderId(positionBytes.subarray(0, idBytes)), key: positionBytes.subarray(idBytes) };
  if (sealedEnd === lengthBytes) return { section: wholeSearch, position };
  const section = await openSection(reader, list, bytes.subarray(lengthBytes, sealedEnd));
  if (!section) throw notACursor(argument);
  return { section, position };
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
