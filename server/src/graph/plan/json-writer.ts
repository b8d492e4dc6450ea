/** Writes objects as JSON text, many at a time. */

import { inOrder, whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { PlanRun } from './plan-run.ts';
import type { SelectedField } from './selections.ts';

/**
 * Objects whose fields can be written. It contains data and no functions: with functions that were created for each request, V8
 * kept the data of many finished requests in memory, and its garbage collector took ten times as long.
 */
interface Prepared<T> {
  readonly objects: readonly T[];
  /** By field: the texts of all objects, or the prepared inner objects. */
  readonly columns: readonly (readonly string[] | Prepared<unknown>)[];
}

/** Writes the selected fields of objects. */
export interface ObjectWriter<T> {
  /** The number of fields, including those of inner objects. */
  readonly fieldCount: number;
  /** Loads the data of all objects together. */
  readonly prepare: (objects: readonly T[], run: PlanRun) => PromiseOrValue<Prepared<T>>;
  readonly writeOne: (prepared: Prepared<T>, run: PlanRun, index: number) => string;
  /**
   * Returns one text for each object, in the same order. With `isOneList`, texts of several objects are joined with commas: many
   * short strings that live as long as the response cause long pauses of the garbage collector.
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

/** Writing so many fields takes about as long as examining a row. */
const fieldsPerRow = 5;
const minRowsPerObject = 2;
const rowsPerSlice = 1_000;

/** Objects with the selected fields. */
export function objectWriter<T>(
  fields: readonly SelectedField[],
  writerOf: (field: SelectedField) => FieldWriter<T>,
): ObjectWriter<T> {
  const starts = fields.map(({ key }, index) => `${index > 0 ? ',' : '{'}${JSON.stringify(key)}:`);
  const writers = fields.map(writerOf);
  const fieldCount = writers.reduce(
    (sum, writer) => sum + ('fieldCount' in writer ? writer.fieldCount : 1),
    0,
  );
  const rowsPerObject = Math.max(minRowsPerObject, Math.ceil(fieldCount / fieldsPerRow));
  const objectsPerSlice = Math.max(1, Math.floor(rowsPerSlice / rowsPerObject));
  const toPrepare = writers.flatMap((writer, column) =>
    writer.write && !writer.load ? [] : [{ writer, column }],
  );
  return { fieldCount, prepare, writeOne, write };

  function prepare(objects: readonly T[], run: PlanRun): PromiseOrValue<Prepared<T>> {
    const columns: (readonly string[] | Prepared<unknown>)[] = [];
    const ready = inOrder(toPrepare, ({ writer, column }): PromiseOrValue<unknown> => {
      if (writer.write) return writer.load!(objects, run);
      const values = writer.writeAll ? writer.writeAll(objects, run) : writer.prepare(objects, run);
      return whenDone(values, (found) => void (columns[column] = found));
    });
    return whenDone(ready, () => ({ objects, columns }));
  }

  function write(objects: readonly T[], run: PlanRun, isOneList = false): PromiseOrValue<readonly string[]> {
    if (objects.length === 0) return [];
    return whenDone(prepare(objects, run), (prepared) =>
      writeInSlices({ prepared, isOneList, texts: [], written: 0 }, run),
    );
  }

  function writeInSlices(all: Writing<T>, run: PlanRun): PromiseOrValue<readonly string[]> {
    const { length } = all.prepared.objects;
    while (all.written < length) {
      const end = Math.min(all.written + objectsPerSlice, length);
      const turn = run.context.task.yieldBefore((end - all.written) * rowsPerObject);
      if (turn) {
        return turn.then(() => {
          writeSlice(all, run, end);
          return writeInSlices(all, run);
        });
      }
      writeSlice(all, run, end);
    }
    return all.texts;
  }

  function writeSlice(all: Writing<T>, run: PlanRun, end: number): void {
    const { prepared, isOneList, texts } = all;
    const isLong = prepared.objects.length > objectsPerSlice;
    let joined = '';
    for (; all.written < end; all.written++) {
      const text = writeOne(prepared, run, all.written);
      if (!isLong) texts.push(text);
      else if (!isOneList) texts.push(inOneString(text));
      else joined += joined === '' ? text : `,${text}`;
    }
    if (joined !== '') texts.push(inOneString(joined));
  }

  function writeOne({ objects, columns }: Prepared<T>, run: PlanRun, index: number): string {
    // Conditions can exclude all fields.
    let text = writers.length === 0 ? '{' : '';
    for (let column = 0; column < writers.length; column++) {
      const writer = writers[column]!;
      text += starts[column]!;
      if (writer.write) text += writer.write(objects[index]!, run, index);
      else if (writer.writeAll) text += (columns[column] as readonly string[])[index]!;
      else text += writer.writeOne(columns[column] as Prepared<unknown>, run, index);
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
    // Its argument is the result of `prepare`.
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

/** V8 stores a concatenated string in parts until it is read. Reading it now avoids joining a long list in one slice. */
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
