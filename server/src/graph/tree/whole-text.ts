/**
 * Answers that show nothing but a folder and what is inside it by name, id, title and number: the database writes them
 * whole. Whatever else is asked for, or is not simple, goes the way of the resolvers; so does everything that is refused.
 */

import { accessLevels } from '../../access/access-level.ts';
import type { KnownAccess } from '../../access/access-book.ts';
import type { KnownWays } from '../../access/known-ways.ts';
import type { ReaderAtOnce } from '../../database/database.ts';
import { isRowId } from '../../database/row-id.ts';
import { restrictionOf } from '../../folders/children.ts';
import {
  mostFolders,
  textStatement,
  tooMany,
  type FolderText,
  type TextParameters,
} from '../../folders/folder-text.ts';
import { readHeadAtOnce } from '../../journal/journal.ts';
import type { GraphServices } from '../builder.ts';
import type { MakeWhole, PlannedField, Variables } from '../compiled/plan.ts';
import { lettersOfAValue } from '../price/element-fields.ts';
import type { KeptTexts } from './kept-texts.ts';
import { eachText, folderText, objectText } from './planned-text.ts';

export interface WholeServices extends Pick<GraphServices, 'database' | 'accessBook' | 'limits'> {
  readonly ways: KnownWays;
  /** Undefined if none are. */
  readonly kept: KeptTexts | undefined;
}

/** Of the plans, to tell their texts apart. */
let lastNumber = 0;

/** How many folders a list may have, by how deeply lists are nested: no more than one piece of work in all. */
const mostInList: readonly number[] = [0, 1_000, 40, 11];
/** SQLite bounds how many texts are put together by one expression. */
const mostFields = 100;
/** After one that was too long, so many are not tried. */
const pause = 100;
/** A letter takes no more in UTF-8. */
const bytesOfALetter = 3;

/** Undefined if the selection is not of this kind. */
export function planWholeText(field: PlannedField): MakeWhole | undefined {
  const most = mostInList[depthOf(field)];
  if (most === undefined || valuesIn(field) > mostFields) return undefined;
  const lists: PlannedField[] = [];
  const inside = folderText(field, (list) => listText(list, most, lists));
  if (!inside) return undefined;
  const text = [`{"data":{${JSON.stringify(field.key)}:`, ...inside, '}}'];
  const folders = mostFolders(text);
  const mostValues = folders * valuesIn(field);
  const name = `${++lastNumber}`;
  let passOver = 0;
  let isQuick = true;
  let statement = textStatement(text, { isQuick });

  return (variables, services, userId) => {
    const { limits, accessBook, database, kept } = services as WholeServices;
    const { atOnce } = database;
    if (passOver > 0 && passOver-- > 0) return undefined;
    if (!atOnce || folders > limits.maxFolders || mostValues > limits.maxValues) return undefined;
    const known = accessBook.lastKnown(userId);
    const id = known && idOf(field.givenIn(variables), known);
    if (id === undefined || !showsAllInside(id, known!, services as WholeServices)) return undefined;
    const parameters: TextParameters = { id, accessNumber: known!.number };
    for (let place = 0; place < lists.length; place++) {
      const limit = limitOf(lists[place]!.givenIn(variables), most, limits.maxPageSize);
      if (limit === undefined) return undefined;
      parameters[limitName(place)] = limit;
    }
    const written =
      kept && lists.length > 0 ? readOrRepeat(parameters, kept, atOnce) : readText(parameters, atOnce);
    if (written === undefined) return undefined;
    if (written.includes(tooMany)) {
      passOver = pause;
      return undefined;
    }
    return written.length * bytesOfALetter > limits.maxTextBytes ? undefined : written;
  };

  function readOrRepeat(
    parameters: TextParameters,
    kept: KeptTexts,
    reader: ReaderAtOnce,
  ): string | undefined {
    const head = readHeadAtOnce(reader);
    if (head.accessNumber !== parameters.accessNumber) return undefined;
    let asked = `${name} ${parameters.id}`;
    for (let place = 0; place < lists.length; place++) asked += ` ${parameters[limitName(place)]}`;
    const before = kept.get(asked, head);
    if (before !== undefined) return before;
    const written = readText(parameters, reader);
    if (written !== undefined) kept.keep(asked, head, written);
    return written;
  }

  function readText(parameters: TextParameters, reader: ReaderAtOnce): string | undefined {
    const written = reader.getText(statement, parameters);
    if (!isQuick || !written?.includes('\\')) return written;
    isQuick = false;
    statement = textStatement(text);
    return readText(parameters, reader);
  }
}

/** Whether the viewer sees all that is inside the folder, as it is. */
function showsAllInside(id: string, known: KnownAccess, { ways, database }: WholeServices): boolean {
  const { access } = known;
  if (restrictionOf(known) !== 'none') return false;
  const way = id === access.rootId ? [id] : ways.wayTo(id, database, known);
  return way !== undefined && access.levelAlong(way) >= accessLevels.READ;
}

/** Of the folder that is asked for; undefined if that is not by its id. */
function idOf({ id, path }: Variables, { access }: KnownAccess): string | undefined {
  if (typeof path === 'string') return undefined;
  if (id === null || id === undefined) return access.rootId;
  return typeof id === 'string' && isRowId(id) ? id : undefined;
}

/** How many to read of a list with these arguments: one more than it may have, if it is to be read whole. */
function limitOf(given: Variables, most: number, maxPageSize: number): number | undefined {
  let limit = most + 1;
  for (const name in given) {
    const value = given[name];
    if (value === null || value === undefined) continue;
    if (name !== 'first' || typeof value !== 'number') return undefined;
    if (value < 0 || value > most || value > maxPageSize) return undefined;
    limit = value;
  }
  return limit;
}

function limitName(place: number): string {
  return `limit${place}`;
}

/** How deeply lists are nested in it. */
function depthOf({ name, selected }: PlannedField): number {
  let depth = 0;
  for (const each of selected) depth = Math.max(depth, depthOf(each));
  return name === 'folders' ? depth + 1 : depth;
}

/** Some more than each folder may bring into the answer. */
function valuesIn({ key, selected }: PlannedField): number {
  let count = 1 + Math.floor(key.length / lettersOfAValue);
  for (const each of selected) count += valuesIn(each);
  return count;
}

function listText(list: PlannedField, most: number, lists: PlannedField[]): FolderText | undefined {
  const limit = limitName(lists.push(list) - 1);
  return objectText(list, (field) => {
    if (field.name === 'totalCount') return [{ value: 'childCount' }];
    const each = eachText(field, (inner) => listText(inner, most, lists));
    return each && ['[', { each, limit, most }, ']'];
  });
}
