/** Writes objects as JSON text, many at a time. */

import { inOrder, whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { PlanRun } from './plan-run.ts';
import type { SelectedField } from './selections.ts';

/**
 * Objects with all data that is needed to write them. It contains no functions: when each request created functions, V8 kept
 * the data of many finished requests in memory, and its garbage collector took ten times as long.
 */
interface PreparedObjects<T> {
  readonly objects: readonly T[];
  /** For each field: the texts of all objects, or the prepared inner objects. */
  readonly columns: readonly (readonly string[] | PreparedObjects<unknown>)[];
}

/**
 * Writes a field: one object at a time after the data of all objects is loaded, all objects at once, or an inner object
 * with its own writer.
 */
export type FieldWriter<T> = OneByOneWriter<T> | AllAtOnceWriter<T> | InnerObjectWriter<T>;

interface OneByOneWriter<T> {
  readonly load?: ((objects: readonly T[], run: PlanRun) => PromiseOrValue<unknown>) | undefined;
  readonly write: (object: T, run: PlanRun, index: number) => string;
  readonly writeAll?: undefined;
}

interface AllAtOnceWriter<T> {
  readonly writeAll: (objects: readonly T[], run: PlanRun) => PromiseOrValue<readonly string[]>;
  readonly write?: undefined;
}

interface InnerObjectWriter<T> {
  readonly inner: ObjectWriter<unknown>;
  readonly toInner: (object: T) => unknown;
  readonly write?: undefined;
  readonly writeAll?: undefined;
}

/** A field with one inner object for each object. */
export function innerObject<T, Inner>(
  inner: ObjectWriter<Inner>,
  toInner: (object: T) => Inner,
): FieldWriter<T> {
  // It writes only results of `toInner`.
  return { inner: inner as ObjectWriter<unknown>, toInner };
}

function typeName({ info }: SelectedField): OneByOneWriter<unknown> {
  const text = JSON.stringify(info.parentType.name);
  return { write: () => text };
}

/** Writing this many fields takes about as long as examining a row. */
const fieldsPerRow = 5;
const minRowsPerObject = 2;
const rowsPerSlice = 1_000;

/** Writes the selected fields of objects. */
export class ObjectWriter<T> {
  /** The number of fields, including the fields of inner objects. */
  readonly fieldCount: number;
  readonly #labels: readonly string[];
  readonly #writers: readonly FieldWriter<T>[];
  /** The columns that must be prepared before an object is written. */
  readonly #toPrepare: readonly number[];
  readonly #rowsPerObject: number;
  readonly #objectsPerSlice: number;

  constructor(fields: readonly SelectedField[], writerOf: (field: SelectedField) => FieldWriter<T>) {
    const writers = fields.map((field) => (field.name === '__typename' ? typeName(field) : writerOf(field)));
    this.#labels = fields.map(({ key }, index) => `${index > 0 ? ',' : '{'}${JSON.stringify(key)}:`);
    this.#writers = writers;
    this.#toPrepare = [...writers.keys()].filter((column) => {
      const writer = writers[column]!;
      return !writer.write || writer.load;
    });
    this.fieldCount = writers.reduce(
      (sum, writer) => sum + ('inner' in writer ? writer.inner.fieldCount : 1),
      0,
    );
    this.#rowsPerObject = Math.max(minRowsPerObject, Math.ceil(this.fieldCount / fieldsPerRow));
    this.#objectsPerSlice = Math.max(1, Math.floor(rowsPerSlice / this.#rowsPerObject));
  }

  /**
   * Returns one text for each object, in the same order. With `isOneList`, texts of several objects are joined with commas.
   * Otherwise, many short strings that live as long as the response would cause long pauses of the garbage collector.
   */
  write(objects: readonly T[], run: PlanRun, isOneList = false): PromiseOrValue<readonly string[]> {
    if (objects.length === 0) return [];
    return whenDone(this.prepare(objects, run), (prepared) =>
      this.#writeInSlices({ prepared, isOneList, texts: [], written: 0 }, run),
    );
  }

  /** Loads the data of all objects together. */
  prepare(objects: readonly T[], run: PlanRun): PromiseOrValue<PreparedObjects<T>> {
    const columns: (readonly string[] | PreparedObjects<unknown>)[] = [];
    const ready = inOrder(this.#toPrepare, (column): PromiseOrValue<unknown> => {
      const writer = this.#writers[column]!;
      if (writer.write) return writer.load!(objects, run);
      const values = writer.writeAll
        ? writer.writeAll(objects, run)
        : writer.inner.prepare(objects.map(writer.toInner), run);
      return whenDone(values, (found) => void (columns[column] = found));
    });
    return whenDone(ready, () => ({ objects, columns }));
  }

  writeOne({ objects, columns }: PreparedObjects<T>, run: PlanRun, index: number): string {
    const writers = this.#writers;
    const labels = this.#labels;
    // @skip and @include can exclude all fields.
    let text = writers.length === 0 ? '{' : '';
    for (let column = 0; column < writers.length; column++) {
      const writer = writers[column]!;
      text += labels[column]!;
      if (writer.write) text += writer.write(objects[index]!, run, index);
      else if (writer.writeAll) text += (columns[column] as readonly string[])[index]!;
      else text += writer.inner.writeOne(columns[column] as PreparedObjects<unknown>, run, index);
    }
    return text + '}';
  }

  #writeInSlices(all: WriteProgress<T>, run: PlanRun): PromiseOrValue<readonly string[]> {
    const { length } = all.prepared.objects;
    while (all.written < length) {
      const end = Math.min(all.written + this.#objectsPerSlice, length);
      const nextSlice = run.context.task.yieldBefore((end - all.written) * this.#rowsPerObject);
      if (nextSlice) {
        return nextSlice.then(() => {
          this.#writeSlice(all, run, end);
          return this.#writeInSlices(all, run);
        });
      }
      this.#writeSlice(all, run, end);
    }
    return all.texts;
  }

  #writeSlice(all: WriteProgress<T>, run: PlanRun, end: number): void {
    const { prepared, isOneList, texts } = all;
    const isLong = prepared.objects.length > this.#objectsPerSlice;
    let joined = '';
    for (; all.written < end; all.written++) {
      const text = this.writeOne(prepared, run, all.written);
      if (!isLong) texts.push(text);
      else if (!isOneList) texts.push(inOneString(text));
      else joined += joined === '' ? text : `,${text}`;
    }
    if (joined !== '') texts.push(inOneString(joined));
  }
}

/** Objects that are being written. */
interface WriteProgress<T> {
  readonly prepared: PreparedObjects<T>;
  readonly isOneList: boolean;
  readonly texts: string[];
  /** How many have been written. */
  written: number;
}

/** V8 stores a concatenated string in parts until it is read. Reading it now avoids joining a long list in one slice. */
function inOneString(text: string): string {
  return text[0] === undefined ? '' : text;
}

/** Writes the text of each list. */
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
