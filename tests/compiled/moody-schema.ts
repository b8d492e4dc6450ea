/** A schema whose resolvers do all that resolvers can do: answer now or later, with nothing, with an error, or throw. */

import { buildSchema, GraphQLError, GraphQLObjectType, type GraphQLSchema } from 'graphql';

const text = `
  enum Kind { SMALL LARGE }
  interface Node { id: ID! }
  input Wish { first: Int = 2, names: [String!], inner: Wish }
  type Thing implements Node {
    id: ID!
    name: String!
    title: String
    kind: Kind!
    weight: Float
    count: Int!
    isOld: Boolean
    tags: [String!]
    grid: [[Int]!]
    other: Thing
    must: Thing!
    others(first: Int = 2, wish: Wish): [Thing]!
    all: [Thing!]
  }
  type Query {
    thing(id: ID, kind: Kind): Thing
    things(count: Int! = 2): [Thing!]!
    node: Node
    title: String
    count: Int!
  }
`;

/** How seldom something goes wrong: one of so many values does. */
export interface Moods {
  readonly seldom: number;
  /**
   * Nothing is answered at once. For graphql-js: of a list in which one element fails at once, it forgets those that fail
   * later, and nobody hears of them.
   */
  readonly isLate?: boolean;
}

interface Source {
  readonly place: number;
}

export function createMoodySchema(): GraphQLSchema {
  const schema = buildSchema(text);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!(type instanceof GraphQLObjectType) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      field.resolve = (
        source: Source | undefined,
        given: Record<string, unknown>,
        { seldom, isLate }: Moods,
      ) => {
        const words = `${source?.place ?? 0} ${field.name} ${JSON.stringify(given)}`;
        const answer = () => usual(field.name, numberOf(`${words} value`), given);
        const resolve = () => inSomeMood(numberOf(words), seldom, answer);
        return isLate ? Promise.resolve().then(resolve) : resolve();
      };
    }
  }
  const node = schema.getType('Node') as { resolveType?: () => string };
  node.resolveType = () => 'Thing';
  return schema;
}

function inSomeMood(number: number, seldom: number, answer: () => unknown): unknown {
  const mood = number % seldom;
  if (mood === 0) return null;
  if (mood === 1) throw new GraphQLError('No.');
  if (mood === 2) return new Error('Not this.');
  if (mood === 3) return Promise.reject(new Error('Not any more.'));
  if (mood === 4) return undefined;
  return number % 3 === 0 ? Promise.resolve().then(answer) : answer();
}

function usual(name: string, number: number, given: Record<string, unknown>): unknown {
  const thing = (place: number): Source => ({ place: place % 1_000 });
  const length = typeof given['first'] === 'number' ? Math.abs(given['first']) % 4 : number % 4;
  const list = <T>(make: (place: number) => T) => Array.from({ length }, (_, place) => make(number + place));
  switch (name) {
    case 'id':
      return number % 2 ? `id "${number}"` : number;
    case 'name':
    case 'title':
      return ['plain', 'with "quotes"', 'Ünïcödé \u2028 \ud83c\udf33', '', '\u0000\n', '\ud800'][number % 6];
    case 'kind':
      return number % 7 === 0 ? 'UNKNOWN' : ['SMALL', 'LARGE'][number % 2];
    case 'weight':
      return [0.5, -0, 1e21, 12, NaN][number % 5];
    case 'count':
      return number % 11 === 0 ? 2 ** 31 : number - 5;
    case 'isOld':
      return number % 2 === 0;
    case 'tags':
      return list((place) => (place % 9 === 0 ? null : `tag ${place}`));
    case 'grid':
      return list(() => list((place) => (place % 5 === 0 ? null : place)));
    case 'others':
    case 'all':
    case 'things':
      return list((place) => (place % 4 === 0 ? Promise.resolve(thing(place)) : thing(place)));
    default:
      return thing(number);
  }
}

/** The same for the same words, and like chance for others. */
function numberOf(words: string): number {
  let hash = 7;
  for (let place = 0; place < words.length; place++) hash = (hash * 31 + words.charCodeAt(place)) >>> 0;
  return (hash ^ (hash >>> 13)) >>> 3;
}
