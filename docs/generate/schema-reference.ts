/** Creates the reference of the GraphQL schema: operations with their inputs, results and examples, then all other types. */

import {
  astFromValue,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  parse,
  print,
  printType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLType,
} from 'graphql';
import { createSchema } from '../../server/src/graph/schema/schema.ts';
import { schemaExamples } from './schema-examples.ts';

type Field = GraphQLField<unknown, unknown>;

const introduction = `<!-- Made by npm run generate. -->

# GraphQL schema

Look up the queries, mutations, subscriptions and types of \`/graphql\`, with examples. The schema is also a file,
[schema.graphql](../../contract/schema.graphql), and your tools can read the schema from the server by introspection.

- A result whose type ends with \`!\` is never null, and an argument whose type ends with \`!\` is required. \`[Folder!]!\` is a list of folders.
- The server runs a query with your rights. If you cannot see a folder, it does not exist for you.
- If a field fails, it is null, and \`errors\` contains the error ([Errors](errors.md)). [Limits](limits.md#cost-of-a-query) describes the cost of a query.
- Most lists have pages ([Connections](#connections)).`;

const connections = `## Connections

A list with pages is a connection, for example \`FolderConnection\` of \`Folder\`. It has these fields:

- \`items\`: The results of this page.
- \`edges\`: The same results, each as a \`node\` with its \`cursor\`. An edge of a \`FolderConnection\` also has \`depth\`, the number of levels below the
  folder that you list. In the results of a search, \`depth\` is null.
- \`pageInfo\` ([\`PageInfo!\`](#pageinfo-type)): Whether there are more pages, and the cursors with which you request them.
- \`totalCount\` (\`Int!\`): The number of results in the whole list.

To read the next page, pass the \`endCursor\` of this page as \`after\`. For example:

\`\`\`graphql
${print(parse('{ folder { folders(first: 100, after: "…") { items { name } pageInfo { hasNextPage endCursor } } } }'))}
\`\`\``;

export function createSchemaReference(schema: GraphQLSchema = createSchema()): string {
  const [query, mutation, subscription] = [
    schema.getQueryType()!,
    schema.getMutationType()!,
    schema.getSubscriptionType()!,
  ];
  const otherTypes = Object.values(schema.getTypeMap()).filter(
    (type) =>
      !isIntrospectionType(type) && ![query, mutation, subscription].some((root) => root.name === type.name),
  );
  const mutationTypeNames = new Set(
    Object.values(mutation.getFields()).flatMap(({ type, args }) =>
      [type, ...args.map((argument) => argument.type)].map((each) => getNamedType(each).name),
    ),
  );
  const isListed = ({ name }: GraphQLNamedType) =>
    !mutationTypeNames.has(name) && !/(Connection|Edge)$/.test(name);
  const typesWhere = (matches: (type: GraphQLNamedType) => boolean) =>
    otherTypes
      .filter((type) => matches(type) && isListed(type))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(formatType)
      .join('\n');
  return `${introduction}

## Queries

${query.description}

${formatOperations('query', query)}
## Mutations

${mutation.description} Every mutation has one argument, \`input\`. Send an \`Idempotency-Key\` header with
your mutation, so that you can safely send it again ([Change folders](../clients/change-folders.md)).

${formatOperations('mutation', mutation)}
## Subscriptions

${subscription.description} [Follow changes](../clients/follow-changes.md) shows how to receive every change.

${formatOperations('subscription', subscription)}
${connections}

## Objects

${typesWhere((type) => isObjectType(type) || isInterfaceType(type))}
## Inputs

${typesWhere(isInputObjectType)}
## Enums

${typesWhere(isEnumType)}
## Scalars

\`ID\`, \`String\`, \`Int\`, \`Float\` and \`Boolean\` are the built-in scalars of GraphQL. An \`ID\` of a folder, user, group or session is a UUID.

${typesWhere((type) => isScalarType(type) && !isSpecifiedScalarType(type))}`;
}

function formatOperations(kind: 'query' | 'mutation' | 'subscription', root: GraphQLObjectType): string {
  return Object.values(root.getFields())
    .map((field) => formatOperation(kind, field))
    .join('\n');
}

function formatOperation(kind: 'query' | 'mutation' | 'subscription', field: Field): string {
  const { name, description, args, type } = field;
  const example = schemaExamples[kind][name];
  if (example === undefined)
    throw new Error(`docs/generate/schema-examples.ts has no example of ${kind} ${name}.`);
  const input = kind === 'mutation' ? getNamedType(args[0]!.type) : undefined;
  const result = getNamedType(type);
  const parts = [
    `### ${name}`,
    description,
    `\`\`\`graphql\n${print(parse(`${kind} ${example}`))}\n\`\`\``,
    ...(input && isInputObjectType(input)
      ? [`Fields of \`input\`:\n\n${formatFields(input.getFields())}`]
      : args.length > 0
        ? [`Arguments:\n\n${formatFields(args)}`]
        : []),
    kind === 'mutation' && isObjectType(result)
      ? `Result:\n\n${formatFields(result.getFields())}`
      : `Returns ${formatTypeLink(type)}.`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function formatType(type: GraphQLNamedType): string {
  const parts = [`### ${type.name} ${kindOf(type)}`, type.description];
  if (isEnumType(type)) {
    parts.push(
      type
        .getValues()
        .map(({ name, description }) => `- \`${name}\`: ${description}`)
        .join('\n'),
    );
  } else if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)) {
    parts.push(formatFields(type.getFields()));
  } else if (!isScalarType(type)) throw new Error(`Cannot describe ${printType(type)}`);
  return `${parts.join('\n\n')}\n`;
}

/** Part of the heading of a type, because an operation can have the same name, for example `folder` and `Folder`. */
function kindOf(type: GraphQLNamedType): string {
  if (isEnumType(type)) return 'enum';
  if (isInputObjectType(type)) return 'input';
  return isScalarType(type) ? 'scalar' : 'type';
}

type AnyField = Field | GraphQLInputField | GraphQLArgument;

function formatFields(fields: Readonly<Record<string, AnyField>> | readonly AnyField[]): string {
  return Object.values(fields).map(formatField).join('\n');
}

function formatField(field: AnyField): string {
  const defaultText =
    'defaultValue' in field && field.defaultValue !== undefined
      ? `, default \`${print(astFromValue(field.defaultValue, field.type)!)}\``
      : '';
  const args = 'args' in field ? field.args : [];
  const line = `- \`${field.name}\` (${formatTypeLink(field.type)}${defaultText}): ${field.description}`;
  return [line, ...args.map((argument) => `  ${formatField(argument)}`)].join('\n');
}

/** Connections share one section. Edges and built-in scalars have no section, so they get no link. */
function formatTypeLink(type: GraphQLType): string {
  const namedType = getNamedType(type);
  const { name } = namedType;
  const text = `\`${String(type)}\``;
  if (name.endsWith('Connection')) return `[${text}](#connections)`;
  if (/^(ID|String|Int|Float|Boolean)$/.test(name) || name.endsWith('Edge')) return text;
  return `[${text}](#${name.toLowerCase()}-${kindOf(namedType)})`;
}
