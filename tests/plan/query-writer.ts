/**
 * Writes queries of all kinds for any schema: aliases, fragments, conditions, variables, arguments that do and do not
 * make sense. They are valid by the grammar and by the schema; what they ask for may be refused.
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

/** A number from 0 on, below this one. */
export type Choose = (below: number) => number;

export interface WriterOptions {
  /** Values for scalars, by the name of their type. */
  readonly scalars: Readonly<Record<string, readonly unknown[]>>;
  /** Fields that are left out, as `Type.field`. */
  readonly without?: ReadonlySet<string>;
  readonly mostDepth: number;
}

export function writeQuery(schema: GraphQLSchema, choose: Choose, options: WriterOptions): WrittenQuery {
  const { scalars, without = new Set(), mostDepth } = options;
  const declared: string[] = [];
  const variables: Record<string, unknown> = {};
  const fragments: { readonly name: string; readonly type: string; readonly text: string }[] = [];
  let aliases = 0;

  const often = () => choose(4) > 0;
  const seldom = () => choose(5) === 0;
  const oneOf = <T>(all: readonly T[]): T => all[choose(all.length)]!;

  const body = selectionOf(schema.getQueryType()!, mostDepth);
  const head = declared.length > 0 ? `query(${declared.join(', ')})` : 'query';
  const definitions = fragments.map(({ name, type, text }) => `fragment ${name} on ${type} ${text}`);
  return { query: [`${head} ${body}`, ...definitions].join('\n'), variables };

  function selectionOf(type: GraphQLCompositeType, depth: number): string {
    const parts: string[] = [];
    for (let count = 1 + choose(4); count > 0; count--) parts.push(partOf(type, depth));
    // The same once more: what is selected twice is one.
    if (seldom()) parts.push(oneOf(parts));
    return `{ ${parts.join(' ')} }`;
  }

  function partOf(type: GraphQLCompositeType, depth: number): string {
    const kind = choose(10);
    if (kind === 0) return `__typename${condition()}`;
    if (kind === 1)
      return `...${seldom() ? '' : ` on ${type.name}`}${condition()} ${selectionOf(type, depth)}`;
    if (kind === 2 && depth > 0) return `...${fragmentOf(type, depth)}${condition()}`;
    return fieldOf(type, depth);
  }

  function fragmentOf(type: GraphQLCompositeType, depth: number): string {
    const known = fragments.filter((fragment) => fragment.type === type.name);
    if (known.length > 0 && often()) return oneOf(known).name;
    const text = selectionOf(type, depth - 1);
    const name = `F${fragments.length}`;
    fragments.push({ name, type: type.name, text });
    return name;
  }

  function fieldOf(type: GraphQLCompositeType, depth: number): string {
    const possible = fieldsOf(type).filter(
      (field) =>
        !without.has(`${type.name}.${field.name}`) &&
        (depth > 0 || !isCompositeType(getNamedType(field.type))),
    );
    if (possible.length === 0) return '__typename';
    const field = oneOf(possible);
    const named = getNamedType(field.type);
    // With arguments, two of the same name could not be merged.
    const alias = field.args.length > 0 || seldom() ? `a${aliases++}: ` : '';
    const inside = isCompositeType(named) ? ` ${selectionOf(named, depth - 1)}` : '';
    return `${alias}${field.name}${argumentsOf(field)}${condition()}${inside}`;
  }

  function fieldsOf(type: GraphQLCompositeType): readonly GraphQLField<unknown, unknown>[] {
    return 'getFields' in type ? Object.values(type.getFields()) : [];
  }

  function condition(): string {
    if (!seldom()) return '';
    const value = oneOf(['true', 'false', 'variable', 'variable']);
    return ` @${oneOf(['skip', 'include'])}(if: ${value === 'variable' ? conditionVariable() : value})`;
  }

  function conditionVariable(): string {
    const name = `if${choose(2)}`;
    if (!declared.some((each) => each.startsWith(`$${name}:`))) {
      declared.push(`$${name}: Boolean!${often() ? '' : ' = true'}`);
      if (often()) variables[name] = choose(2) === 0;
    }
    return `$${name}`;
  }

  function argumentsOf({ args }: GraphQLField<unknown, unknown>): string {
    const given = args.filter((argument) => isRequiredArgument(argument) || choose(3) === 0).map(argumentOf);
    return given.length > 0 ? `(${given.join(', ')})` : '';
  }

  function argumentOf({ name, type }: GraphQLArgument): string {
    if (often()) return `${name}: ${literalOf(type)}`;
    const variable = `v${declared.length}`;
    declared.push(`$${variable}: ${String(type)}`);
    if (often()) variables[variable] = valueOf(type);
    return `${name}: $${variable}`;
  }

  function literalOf(type: GraphQLInputType): string {
    return write(valueOf(type), type);
  }

  function valueOf(type: GraphQLInputType): unknown {
    if (isNonNullType(type)) return presentOf(type.ofType);
    if (seldom() && seldom()) return null;
    return presentOf(type);
  }

  function presentOf(type: GraphQLInputType): unknown {
    if (isNonNullType(type)) return presentOf(type.ofType);
    if (isListType(type)) return Array.from({ length: choose(3) }, () => presentOf(type.ofType));
    if (isEnumType(type)) return oneOf(type.getValues()).name;
    if (!isInputObjectType(type)) return oneOf(scalars[(type as { name: string }).name] ?? ['?']);
    const fields = Object.values(type.getFields()).filter(
      (field) => isRequiredInputField(field) || choose(2) === 0,
    );
    return Object.fromEntries(fields.map((field) => [field.name, valueOf(field.type)]));
  }
}

function write(value: unknown, type: GraphQLInputType): string {
  if (isNonNullType(type)) return write(value, type.ofType);
  if (value === null) return 'null';
  if (isListType(type)) return `[${(value as unknown[]).map((each) => write(each, type.ofType)).join(', ')}]`;
  if (isEnumType(type)) return value as string;
  if (!isInputObjectType(type)) return JSON.stringify(value);
  const fields = type.getFields();
  const written = Object.entries(value as object).map(
    ([name, each]) => `${name}: ${write(each, fields[name]!.type)}`,
  );
  return `{${written.join(', ')}}`;
}
