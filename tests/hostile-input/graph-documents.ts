/** GraphQL documents generated from the real schema: mostly valid, with a few errors. */

import { readFileSync } from 'node:fs';
import {
  buildSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';
import type { Random } from '../many-nodes/chaos/random.ts';
import { oddValue } from './hostile-json.ts';
import { oddLiterals, sampleValue, type Sample } from './graph-values.ts';

export interface GraphDocument {
  readonly query: string;
  readonly variables: Record<string, Sample>;
  readonly isSubscription: boolean;
}

const schemaFile = new URL('../../contract/schema.graphql', import.meta.url);
const introspection = [
  '{__schema{types{name fields{name args{name type{name ofType{name}}}}}}}',
  '{__type(name:"Folder"){fields{name type{kind ofType{ofType{ofType{name}}}}}}}',
  '{__schema{__typename directives{name args{defaultValue}}}}',
];
/** The probability of each mutation that hashes a password or ends the sessions of the run. */
const rareMutations: Readonly<Record<string, number>> = {
  changePassword: 0.01,
  createUser: 0.02,
  deleteUser: 0.01,
  resetPassword: 0.01,
  revokeSessions: 0.003,
  updateUser: 0.01,
};
const oddSelections = ['__typename', 'a: __typename', '__typename', 'noSuchField', '...NoSuchFragment'];
const maxDepth = 4;
const faultyShare = 0.4;

export class GraphDocuments {
  readonly #schema: GraphQLSchema = buildSchema(readFileSync(schemaFile, 'utf8'));

  make(random: Random): GraphDocument {
    if (random.chance(0.02)) {
      return { query: random.pick(introspection), variables: {}, isSubscription: false };
    }
    return new DocumentWriter(this.#schema, random).write();
  }
}

class DocumentWriter {
  readonly #schema: GraphQLSchema;
  readonly #random: Random;
  readonly #variables: Record<string, Sample> = {};
  readonly #declared: string[] = [];
  readonly #fragments: string[] = [];
  /** If false, the document is valid and only its values are odd, so that it is executed. */
  readonly #isFaulty: boolean;
  #aliases = 0;

  constructor(schema: GraphQLSchema, random: Random) {
    this.#schema = schema;
    this.#random = random;
    this.#isFaulty = random.chance(faultyShare);
  }

  write(): GraphDocument {
    const random = this.#random;
    const kindShare = random.next();
    const operation = kindShare < 0.7 ? 'query' : kindShare < 0.94 ? 'mutation' : 'subscription';
    const root = {
      query: this.#schema.getQueryType()!,
      mutation: this.#schema.getMutationType()!,
      subscription: this.#schema.getSubscriptionType()!,
    }[operation];
    const selection = this.#selection(root, 0, operation === 'query' ? 3 : 1);
    const variables = this.#declared.length > 0 ? `(${this.#declared.join(', ')})` : '';
    const name = random.chance(0.1) ? ' Named' : variables ? ' ' : '';
    const second = this.#errs(0.02) ? ' query Other{__typename}' : '';
    const query = `${operation}${name}${variables}${selection}${second} ${this.#fragments.join(' ')}`;
    return { query, variables: this.#variables, isSubscription: operation === 'subscription' };
  }

  #selection(type: GraphQLCompositeType, depth: number, maxFields = 4): string {
    const random = this.#random;
    const fields = 'getFields' in type ? Object.values(type.getFields()) : [];
    const simple = fields.filter((field) => !isCompositeType(getNamedType(field.type)));
    const choices = random.shuffle(depth >= maxDepth ? simple : fields).slice(0, 1 + random.below(maxFields));
    const parts = choices.map((field) => {
      if (this.#errs(0.03)) return random.pick(oddSelections);
      if (!random.chance(rareMutations[field.name] ?? 1)) return '__typename';
      return this.#inFragment(type, this.#field(field, depth));
    });
    if (parts.length === 0) parts.push('__typename');
    return `{${parts.join(' ')}}`;
  }

  #field(field: GraphQLField<unknown, unknown>, depth: number): string {
    const random = this.#random;
    const alias = this.#errs(0.1) ? 'a: ' : random.chance(0.2) ? `a${++this.#aliases}: ` : '';
    const args = field.args
      .filter((argument) => (isRequiredArgument(argument) ? !this.#errs(0.02) : random.chance(0.35)))
      .map(({ name, type }) => `${name}: ${this.#value(name, type, 0)}`);
    if (this.#errs(0.03)) args.push(`noSuchArgument: 1`);
    const named = getNamedType(field.type);
    const isWhole = isCompositeType(named) !== this.#errs(0.01);
    const inside = !isWhole ? '' : isCompositeType(named) ? this.#selection(named, depth + 1) : '{id}';
    return `${alias}${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}${this.#directive()}${inside}`;
  }

  /** Sometimes puts a field into a fragment. */
  #inFragment(type: GraphQLCompositeType, field: string): string {
    const random = this.#random;
    if (random.chance(0.9)) return field;
    if (random.chance(0.5)) return `... on ${type.name}${this.#directive()}{${field}}`;
    const name = `F${this.#fragments.length}`;
    // Sometimes the fragment contains itself.
    const loop = this.#errs(0.05) ? ` ...${name}` : '';
    this.#fragments.push(`fragment ${name} on ${this.#errs(0.05) ? 'User' : type.name}{${field}${loop}}`);
    return `...${name}`;
  }

  #directive(): string {
    const random = this.#random;
    if (random.chance(0.95)) return '';
    if (!this.#errs(0.3))
      return random.pick([' @include(if: true)', ' @skip(if: false)', ' @skip(if: true)']);
    return random.pick([
      ' @include(if: "yes")',
      ' @skip',
      ' @include(if: true) @include(if: false)',
      ' @defer',
      ' @deprecated',
      ' @noSuchDirective(a: 1)',
    ]);
  }

  #value(name: string, type: GraphQLInputType, depth: number, mayVary = true): string {
    const random = this.#random;
    if (this.#errs(0.05)) return random.pick(oddLiterals);
    if (mayVary && random.chance(0.3)) return this.#variable(name, type);
    if (isNonNullType(type)) return this.#value(name, type.ofType, depth, false);
    if (isListType(type)) {
      const items = Array.from({ length: random.below(4) }, () => this.#value(name, type.ofType, depth + 1));
      return `[${items.join(', ')}]`;
    }
    if (!isInputObjectType(type)) {
      return isEnumType(type)
        ? random.pick(type.getValues()).name
        : literal(sampleValue(random, name, type.name));
    }
    const fields = Object.values(type.getFields())
      .filter((field) => this.#isIncluded(field, depth))
      .map((field) => `${field.name}: ${this.#value(field.name, field.type, depth + 1)}`);
    return `{${fields.join(', ')}}`;
  }

  #isIncluded(field: GraphQLInputField, depth: number): boolean {
    if (isRequiredInputField(field)) return !this.#errs(0.02);
    return this.#random.chance(depth > 2 ? 0.05 : 0.4);
  }

  #errs(share: number): boolean {
    return this.#isFaulty && this.#random.chance(share);
  }

  #variable(name: string, type: GraphQLInputType): string {
    const random = this.#random;
    const variable = `v${this.#declared.length}`;
    const declared = this.#errs(0.1)
      ? random.pick(['Int!', '[String]', 'Folder', 'NoSuchType'])
      : String(type);
    this.#declared.push(`$${variable}: ${declared}`);
    if (!this.#errs(0.1)) {
      this.#variables[variable] = this.#errs(0.2) ? oddValue(random) : this.#sample(name, type, 0);
    }
    return `$${variable}`;
  }

  #sample(name: string, type: GraphQLInputType, depth: number): Sample {
    const random = this.#random;
    if (isNonNullType(type)) return this.#sample(name, type.ofType, depth);
    if (isListType(type)) {
      return Array.from({ length: random.below(3) }, () => this.#sample(name, type.ofType, depth + 1));
    }
    if (isEnumType(type)) return random.pick(type.getValues()).name;
    if (!isInputObjectType(type)) return sampleValue(random, name, type.name);
    return Object.fromEntries(
      Object.values(type.getFields())
        .filter((field) => this.#isIncluded(field, depth))
        .map((field) => [
          field.name,
          this.#errs(0.1) ? oddValue(random) : this.#sample(field.name, field.type, depth + 1),
        ]),
    );
  }
}

/** Writes a GraphQL literal, in which keys have no quotes. */
function literal(value: Sample): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, each]) => `${key}: ${literal(each)}`)
    .join(', ')}}`;
}
