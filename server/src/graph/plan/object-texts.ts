/** Writes objects as JSON text, many at a time. */

import { inOrder, whenDone, type PromiseOrValue } from '../../database/database.ts';
import type { PlanRun } from './plan-run.ts';
import type { SelectedField } from './selections.ts';

/** Objects in, as many texts out, in the same order. */
export type Texts<T> = (objects: readonly T[], run: PlanRun) => PromiseOrValue<readonly string[]>;

/** Writes a field of objects: of one at a time, after what it needs has been loaded for all of them, or of all at once. */
export type FieldWriter<T> = OneByOne<T> | { readonly writeAll: Texts<T>; readonly write?: undefined };

interface OneByOne<T> {
  readonly load?: ((objects: readonly T[], run: PlanRun) => PromiseOrValue<unknown>) | undefined;
  readonly write: (object: T, run: PlanRun, index: number) => string;
  readonly writeAll?: undefined;
}

/** To write so many fields takes about as long as to examine a row. */
const fieldsPerRow = 5;
const minRowsPerObject = 2;
const rowsPerPiece = 1_000;

/** Objects with the selected fields. */
export function objectTexts<T>(
  fields: readonly SelectedField[],
  writerOf: (field: SelectedField) => FieldWriter<T>,
): Texts<T> {
  const starts = fields.map(({ key }, place) => `${place > 0 ? ',' : '{'}${JSON.stringify(key)}:`);
  const writers = fields.map(writerOf);
  const rowsPerObject = Math.max(minRowsPerObject, Math.ceil(fields.length / fieldsPerRow));
  const objectsPerPiece = Math.max(1, Math.floor(rowsPerPiece / rowsPerObject));
  const prepared = writers.flatMap((writer, place) =>
    writer.writeAll || writer.load ? [{ writer, place }] : [],
  );

  return (objects, run) => {
    if (objects.length === 0) return [];
    const columns: (readonly string[])[] = [];
    const ready = inOrder(prepared, ({ writer, place }) =>
      writer.writeAll
        ? whenDone(writer.writeAll(objects, run), (texts) => void (columns[place] = texts))
        : writer.load!(objects, run),
    );
    return whenDone(ready, () => writeInPieces(objects, run, columns, []));
  };

  function writeInPieces(
    objects: readonly T[],
    run: PlanRun,
    columns: readonly (readonly string[])[],
    texts: string[],
  ): PromiseOrValue<readonly string[]> {
    while (texts.length < objects.length) {
      const end = Math.min(texts.length + objectsPerPiece, objects.length);
      const turn = run.context.pace.before((end - texts.length) * rowsPerObject);
      const isLong = objects.length > objectsPerPiece;
      const writeSome = () => {
        while (texts.length < end) {
          const text = writeOne(objects[texts.length]!, run, texts.length, columns);
          texts.push(isLong ? inOneString(text) : text);
        }
      };
      if (turn) {
        return turn.then(() => {
          writeSome();
          return writeInPieces(objects, run, columns, texts);
        });
      }
      writeSome();
    }
    return texts;
  }

  function writeOne(object: T, run: PlanRun, index: number, columns: readonly (readonly string[])[]): string {
    // Conditions can leave out all fields.
    let text = writers.length === 0 ? '{' : '';
    for (let place = 0; place < writers.length; place++) {
      const { write } = writers[place]!;
      text += starts[place]! + (write ? write(object, run, index) : columns[place]![index]!);
    }
    return text + '}';
  }
}

/** V8 keeps a concatenated string in parts until it is read. Reads it now, so that a long list is not joined in one go. */
function inOneString(text: string): string {
  return text[0] === undefined ? '' : text;
}

/** Writes one list for each of the lists. */
export function listTexts<T>(
  lists: readonly (readonly T[])[],
  texts: Texts<T>,
  run: PlanRun,
): PromiseOrValue<string[]> {
  const starts: number[] = [];
  let total = 0;
  for (const { length } of lists) {
    starts.push(total);
    total += length;
  }
  const elements = lists.length === 1 ? lists[0]! : lists.flat();
  const written = run.inLists(starts, () => texts(elements, run));
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
