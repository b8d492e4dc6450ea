/**
 * Writes random queries for any schema, with aliases, fragments, conditions, variables and arguments. The
 * queries match the grammar and the schema, but the server may refuse their values.
 */

import {
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';

export interface WrittenQuery {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Returns an integer that is at least 0 and less than `below`. */
export type Choose = (below: number) => number;

export interface WriterOptions {
  /** Values for scalars, by the name of their type. */
  readonly scalars: Readonly<Record<string, readonly unknown[]>>;
  /** Fields to leave out, as `Type.field`. */
  readonly without?: ReadonlySet<string>;
  readonly maxDepth: number;
}

export function writeQuery(schema: GraphQLSchema, choose: Choose, options: WriterOptions): WrittenQuery {
  const { scalars, without = new Set(), maxDepth } = options;
  const declared: string[] = [];
  const variables: Record<string, unknown> = {};
  const fragments: { readonly name: string; readonly type: string; readonly text: string }[] = [];
  let aliases = 0;

  const isUsual = () => choose(4) > 0;
  const isRare = () => choose(5) === 0;
  const pickFrom = <T>(all: readonly T[]): T => all[choose(all.length)]!;

  const body = writeSelection(schema.getQueryType()!, maxDepth);
  const head = declared.length > 0 ? `query(${declared.join(', ')})` : 'query';
  const definitions = fragments.map(({ name, type, text }) => `fragment ${name} on ${type} ${text}`);
  return { query: [`${head} ${body}`, ...definitions].join('\n'), variables };

  function writeSelection(type: GraphQLCompositeType, depth: number): string {
    const parts: string[] = [];
    for (let count = 1 + choose(4); count > 0; count--) parts.push(writePart(type, depth));
    // Repeats a part, because duplicate selections must be merged.
    if (isRare()) parts.push(pickFrom(parts));
    return `{ ${parts.join(' ')} }`;
  }

  function writePart(type: GraphQLCompositeType, depth: number): string {
    const kind = choose(10);
    if (kind === 0) return `__typename${condition()}`;
    if (kind === 1)
      return `...${isRare() ? '' : ` on ${type.name}`}${condition()} ${writeSelection(type, depth)}`;
    if (kind === 2 && depth > 0) return `...${writeFragment(type, depth)}${condition()}`;
    return writeField(type, depth);
  }

  function writeFragment(type: GraphQLCompositeType, depth: number): string {
    const reusable = fragments.filter((fragment) => fragment.type === type.name);
    if (reusable.length > 0 && isUsual()) return pickFrom(reusable).name;
    const text = writeSelection(type, depth - 1);
    const name = `F${fragments.length}`;
    fragments.push({ name, type: type.name, text });
    return name;
  }

  function writeField(type: GraphQLCompositeType, depth: number): string {
    const possible = listFields(type).filter(
      (field) =>
        !without.has(`${type.name}.${field.name}`) &&
        (depth > 0 || !isCompositeType(getNamedType(field.type))),
    );
    if (possible.length === 0) return '__typename';
    const field = pickFrom(possible);
    const named = getNamedType(field.type);
    // Two fields of the same name with different arguments cannot be merged.
    const alias = field.args.length > 0 || isRare() ? `a${aliases++}: ` : '';
    const inside = isCompositeType(named) ? ` ${writeSelection(named, depth - 1)}` : '';
    return `${alias}${field.name}${writeArguments(field)}${condition()}${inside}`;
  }

  function listFields(type: GraphQLCompositeType): readonly GraphQLField<unknown, unknown>[] {
    return 'getFields' in type ? Object.values(type.getFields()) : [];
  }

  function condition(): string {
    if (!isRare()) return '';
    const value = pickFrom(['true', 'false', 'variable', 'variable']);
    return ` @${pickFrom(['skip', 'include'])}(if: ${value === 'variable' ? conditionVariable() : value})`;
  }

  function conditionVariable(): string {
    const name = `if${choose(2)}`;
    if (!declared.some((each) => each.startsWith(`$${name}:`))) {
      declared.push(`$${name}: Boolean!${isUsual() ? '' : ' = true'}`);
      if (isUsual()) variables[name] = choose(2) === 0;
    }
    return `$${name}`;
  }

  function writeArguments({ args }: GraphQLField<unknown, unknown>): string {
    const chosen = args
      .filter((argument) => isRequiredArgument(argument) || choose(3) === 0)
      .map(writeArgument);
    return chosen.length > 0 ? `(${chosen.join(', ')})` : '';
  }

  function writeArgument({ name, type }: GraphQLArgument): string {
    if (isUsual()) return `${name}: ${writeLiteral(type)}`;
    const variable = `v${declared.length}`;
    declared.push(`$${variable}: ${String(type)}`);
    if (isUsual()) variables[variable] = createValue(type);
    return `${name}: $${variable}`;
  }

  function writeLiteral(type: GraphQLInputType): string {
    return writeValue(createValue(type), type);
  }

  function createValue(type: GraphQLInputType): unknown {
    if (isNonNullType(type)) return createNonNull(type.ofType);
    if (isRare() && isRare()) return null;
    return createNonNull(type);
  }

  function createNonNull(type: GraphQLInputType): unknown {
    if (isNonNullType(type)) return createNonNull(type.ofType);
    if (isListType(type)) return Array.from({ length: choose(3) }, () => createNonNull(type.ofType));
    if (isEnumType(type)) return pickFrom(type.getValues()).name;
    if (!isInputObjectType(type)) return pickFrom(scalars[(type as { name: string }).name] ?? ['?']);
    const fields = Object.values(type.getFields()).filter(
      (field) => isRequiredInputField(field) || choose(2) === 0,
    );
    return Object.fromEntries(fields.map((field) => [field.name, createValue(field.type)]));
  }
}

function writeValue(value: unknown, type: GraphQLInputType): string {
  if (isNonNullType(type)) return writeValue(value, type.ofType);
  if (value === null) return 'null';
  if (isListType(type))
    return `[${(value as unknown[]).map((each) => writeValue(each, type.ofType)).join(', ')}]`;
  if (isEnumType(type)) return value as string;
  if (!isInputObjectType(type)) return JSON.stringify(value);
  const fields = type.getFields();
  const written = Object.entries(value as object).map(
    ([name, each]) => `${name}: ${writeValue(each, fields[name]!.type)}`,
  );
  return `{${written.join(', ')}}`;
}
