/**
 * Values made into the text of an answer, all those of a field together: what is nested is done level by level, and
 * nothing waits for one value at a time. Only for answers without errors: whatever is not as it should be is thrown, and
 * graphql-js tells then what is wrong with it.
 */

import {
  isEnumType,
  isListType,
  isNonNullType,
  type GraphQLEnumType,
  type GraphQLLeafType,
  type GraphQLOutputType,
} from 'graphql';
import { isPromise, whenDone, type PromiseOrValue } from '../../database/database.ts';

/** The values in, as many texts out, in their order. */
export type Column<Run> = (values: readonly unknown[], run: Run) => PromiseOrValue<readonly string[]>;

/** A field of an object: of all the objects at once. */
export interface FieldColumn<Run> {
  readonly name: string;
  readonly read: Column<Run>;
}

/** `ofNamed` makes the texts of what is in the lists, if there are any, and not null. */
export function columnOf<Run>(type: GraphQLOutputType, ofNamed: Column<Run>): Column<Run> {
  if (isNonNullType(type)) return required(ofNullable(type.ofType, ofNamed));
  return optional(ofNullable(type, ofNamed));
}

function ofNullable<Run>(type: GraphQLOutputType, ofNamed: Column<Run>): Column<Run> {
  return isListType(type) ? listColumn(columnOf(type.ofType, ofNamed)) : ofNamed;
}

function required<Run>(column: Column<Run>): Column<Run> {
  return (values, run) => {
    for (const value of values) if (isNothing(value)) throw new Error('A value is missing.');
    return column(values, run);
  };
}

function optional<Run>(column: Column<Run>): Column<Run> {
  return (values, run) => {
    if (!values.some(isNothing)) return column(values, run);
    const there = values.filter((value) => !isNothing(value));
    return whenDone(there.length === 0 ? [] : column(there, run), (texts) => {
      let next = 0;
      return values.map((value) => (isNothing(value) ? 'null' : texts[next++]!));
    });
  };
}

function listColumn<Run>(items: Column<Run>): Column<Run> {
  return (lists, run) => {
    if (!areLists(lists)) throw new Error('A list is none.');
    return whenDone(whenAllAreThere(lists.length === 1 ? lists[0]! : lists.flat()), (there) =>
      whenDone(items(there, run), (texts) => {
        let next = 0;
        return lists.map(({ length }) => {
          let text = '[';
          for (let place = 0; place < length; place++) text += (place > 0 ? ',' : '') + texts[next++]!;
          return text + ']';
        });
      }),
    );
  };
}

export function objectColumn<Run>(fields: readonly FieldColumn<Run>[]): Column<Run> {
  const starts = fields.map(({ name }, place) => `${place > 0 ? ',' : '{'}${JSON.stringify(name)}:`);
  return (objects, run) => {
    for (const object of objects) if (object instanceof Error) throw object;
    return whenDone(whenAllAreThere(readAll(fields, ({ read }) => read(objects, run))), (columns) =>
      objects.map((_, place) => {
        // Conditions may leave out all of the fields.
        let text = columns.length === 0 ? '{' : '';
        for (let field = 0; field < columns.length; field++) text += starts[field]! + columns[field]![place]!;
        return text + '}';
      }),
    );
  };
}

/** Whatever the objects are. */
export function constantColumn<Run>(text: string): Column<Run> {
  return (objects) => objects.map(() => text);
}

/** A value of each object, and then the texts of all of them. */
export function resolvedColumn<Run>(
  resolverOf: (run: Run) => (object: unknown) => unknown,
  texts: Column<Run>,
): Column<Run> {
  return (objects, run) => {
    const values = readAll(objects, resolverOf(run));
    return whenDone(whenAllAreThere(values), (there) => texts(there, run));
  };
}

/** Where one throws, nobody waits for those before it any more: what becomes of them is nobody's concern. */
function readAll<In, Out>(inputs: readonly In[], read: (input: In) => Out): Out[] {
  const found: Out[] = [];
  try {
    for (const input of inputs) found.push(read(input));
    return found;
  } catch (error) {
    for (const each of found) if (isPromise(each)) each.catch(() => undefined);
    throw error;
  }
}

function whenAllAreThere<T>(values: readonly PromiseOrValue<T>[]): PromiseOrValue<readonly T[]> {
  return values.some(isPromise) ? Promise.all(values) : (values as readonly T[]);
}

function areLists(values: readonly unknown[]): values is readonly unknown[][] {
  return values.every(Array.isArray);
}

function isNothing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

export function leafColumn<Run>(type: GraphQLLeafType): Column<Run> {
  const write = writerOf(type);
  return (values) => values.map(write);
}

/** What the types of graphql-js make of a value that is as it should be; everything else, they are asked. */
function writerOf(type: GraphQLLeafType): (value: unknown) => string {
  const ask = (value: unknown) => {
    if (value instanceof Error) throw value;
    const serialized: unknown = type.serialize(value);
    const text = isNothing(serialized) ? undefined : (JSON.stringify(serialized) as string | undefined);
    if (text === undefined) throw new Error('A value has no text.');
    return text;
  };
  if (isEnumType(type)) return enumWriter(type, ask);
  switch (type.name) {
    case 'String':
    case 'ID':
      return (value) => (typeof value === 'string' ? quote(value) : ask(value));
    case 'Int':
      return (value) => (isInt(value) ? String(value) : ask(value));
    case 'Boolean':
      return (value) => (typeof value === 'boolean' ? String(value) : ask(value));
    default:
      return ask;
  }
}

function enumWriter(type: GraphQLEnumType, ask: (value: unknown) => string): (value: unknown) => string {
  const texts = new Map<unknown, string>(
    type.getValues().map(({ name, value }) => [value, JSON.stringify(name)]),
  );
  return (value) => texts.get(value) ?? ask(value);
}

function isInt(value: unknown): boolean {
  return typeof value === 'number' && (value | 0) === value;
}

const plainText = /^[ !#-[\]-~]*$/;

/** Most texts need nothing but the quotes. */
function quote(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}
