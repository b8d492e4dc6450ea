/** Writes objects as JSON text, many at a time. */

import { inOrder, whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { PlanRun } from './plan-run.ts';
import type { SelectedField } from './selections.ts';

/**
 * Objects whose fields can be written. It holds data and no functions: with functions that were made for each request, V8
 * kept the data of many finished requests, and its garbage collector took ten times as long.
 */
interface Prepared<T> {
  readonly objects: readonly T[];
  /** By field: the texts of all objects, or the prepared inner objects. */
  readonly columns: readonly (readonly string[] | Prepared<unknown>)[];
}

/** Writes the selected fields of objects. */
export interface ObjectWriter<T> {
  /** With those of inner objects. */
  readonly fieldCount: number;
  /** Loads the data of all objects together. */
  readonly prepare: (objects: readonly T[], run: PlanRun) => PromiseOrValue<Prepared<T>>;
  readonly writeOne: (prepared: Prepared<T>, run: PlanRun, index: number) => string;
  /**
   * Objects in, as many texts out, in the same order. For `isOneList`, texts can be joined with commas: many short strings
   * that live as long as the answer cost long pauses of the garbage collector.
   */
  readonly write: (
    objects: readonly T[],
    run: PlanRun,
    isOneList?: boolean,
  ) => PromiseOrValue<readonly string[]>;
}

/**
 * Writes a field: one object at a time after the data of all objects is loaded, all objects at once, or an inner object
 * with its own writer.
 */
export type FieldWriter<T> = OneByOne<T> | AllAtOnce<T> | InnerObject<T>;

interface OneByOne<T> {
  readonly load?: ((objects: readonly T[], run: PlanRun) => PromiseOrValue<unknown>) | undefined;
  readonly write: (object: T, run: PlanRun, index: number) => string;
  readonly writeAll?: undefined;
}

interface AllAtOnce<T> {
  readonly writeAll: (objects: readonly T[], run: PlanRun) => PromiseOrValue<readonly string[]>;
  readonly write?: undefined;
}

interface InnerObject<T> {
  readonly prepare: (objects: readonly T[], run: PlanRun) => PromiseOrValue<Prepared<unknown>>;
  readonly writeOne: (prepared: Prepared<unknown>, run: PlanRun, index: number) => string;
  readonly fieldCount: number;
  readonly write?: undefined;
  readonly writeAll?: undefined;
}

/** To write so many fields takes about as long as to examine a row. */
const fieldsPerRow = 5;
const minRowsPerObject = 2;
const rowsPerPiece = 1_000;

/** Objects with the selected fields. */
export function objectWriter<T>(
  fields: readonly SelectedField[],
  writerOf: (field: SelectedField) => FieldWriter<T>,
): ObjectWriter<T> {
  const starts = fields.map(({ key }, place) => `${place > 0 ? ',' : '{'}${JSON.stringify(key)}:`);
  const writers = fields.map(writerOf);
  const fieldCount = writers.reduce(
    (sum, writer) => sum + ('fieldCount' in writer ? writer.fieldCount : 1),
    0,
  );
  const rowsPerObject = Math.max(minRowsPerObject, Math.ceil(fieldCount / fieldsPerRow));
  const objectsPerPiece = Math.max(1, Math.floor(rowsPerPiece / rowsPerObject));
  const toPrepare = writers.flatMap((writer, place) =>
    writer.write && !writer.load ? [] : [{ writer, place }],
  );
  return { fieldCount, prepare, writeOne, write };

  function prepare(objects: readonly T[], run: PlanRun): PromiseOrValue<Prepared<T>> {
    const columns: (readonly string[] | Prepared<unknown>)[] = [];
    const ready = inOrder(toPrepare, ({ writer, place }): PromiseOrValue<unknown> => {
      if (writer.write) return writer.load!(objects, run);
      const column = writer.writeAll ? writer.writeAll(objects, run) : writer.prepare(objects, run);
      return whenDone(column, (found) => void (columns[place] = found));
    });
    return whenDone(ready, () => ({ objects, columns }));
  }

  function write(objects: readonly T[], run: PlanRun, isOneList = false): PromiseOrValue<readonly string[]> {
    if (objects.length === 0) return [];
    return whenDone(prepare(objects, run), (prepared) =>
      writeInPieces({ prepared, isOneList, texts: [], written: 0 }, run),
    );
  }

  function writeInPieces(all: Writing<T>, run: PlanRun): PromiseOrValue<readonly string[]> {
    const { length } = all.prepared.objects;
    while (all.written < length) {
      const end = Math.min(all.written + objectsPerPiece, length);
      const turn = run.context.task.yieldBefore((end - all.written) * rowsPerObject);
      if (turn) {
        return turn.then(() => {
          writePiece(all, run, end);
          return writeInPieces(all, run);
        });
      }
      writePiece(all, run, end);
    }
    return all.texts;
  }

  function writePiece(all: Writing<T>, run: PlanRun, end: number): void {
    const { prepared, isOneList, texts } = all;
    const isLong = prepared.objects.length > objectsPerPiece;
    let piece = '';
    for (; all.written < end; all.written++) {
      const text = writeOne(prepared, run, all.written);
      if (!isLong) texts.push(text);
      else if (!isOneList) texts.push(inOneString(text));
      else piece += piece === '' ? text : `,${text}`;
    }
    if (piece !== '') texts.push(inOneString(piece));
  }

  function writeOne({ objects, columns }: Prepared<T>, run: PlanRun, index: number): string {
    // Conditions can leave out all fields.
    let text = writers.length === 0 ? '{' : '';
    for (let place = 0; place < writers.length; place++) {
      const writer = writers[place]!;
      text += starts[place]!;
      if (writer.write) text += writer.write(objects[index]!, run, index);
      else if (writer.writeAll) text += (columns[place] as readonly string[])[index]!;
      else text += writer.writeOne(columns[place] as Prepared<unknown>, run, index);
    }
    return text + '}';
  }
}

/** A field with one inner object for each object. */
export function innerObject<T, Inner>(
  { prepare, writeOne, fieldCount }: ObjectWriter<Inner>,
  toInner: (object: T) => Inner,
): FieldWriter<T> {
  return {
    fieldCount,
    prepare: (objects, run) => prepare(objects.map(toInner), run),
    // It gets what `prepare` has returned.
    writeOne: writeOne as InnerObject<T>['writeOne'],
  };
}

/** Objects that are being written. */
interface Writing<T> {
  readonly prepared: Prepared<T>;
  readonly isOneList: boolean;
  readonly texts: string[];
  /** How many have been written. */
  written: number;
}

/** V8 keeps a concatenated string in parts until it is read. Reads it now, so that a long list is not joined in one go. */
function inOneString(text: string): string {
  return text[0] === undefined ? '' : text;
}

/** Writes one list for each of the lists. */
export function listTexts<T>(
  lists: readonly (readonly T[])[],
  writer: ObjectWriter<T>,
  run: PlanRun,
): PromiseOrValue<string[]> {
  if (lists.length === 1) {
    return whenDone(
      run.inLists([0], () => writer.write(lists[0]!, run, true)),
      (all) => [listText(all, 0, all.length)],
    );
  }
  const starts: number[] = [];
  let total = 0;
  for (const { length } of lists) {
    starts.push(total);
    total += length;
  }
  const written = run.inLists(starts, () => writer.write(lists.flat(), run));
  return whenDone(written, (all) =>
    lists.map(({ length }, list) => listText(all, starts[list]!, starts[list]! + length)),
  );
}

/** Appends the texts one by one, because `join` copies each text twice. */
function listText(texts: readonly string[], start: number, end: number): string {
  let text = '[';
  for (let index = start; index < end; index++) text += index > start ? `,${texts[index]!}` : texts[index]!;
  return `${text}]`;
}
