/** `espalier query` runs a query, mutation or subscription and prints the response as JSON. `espalier schema` prints the schema. */

import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import type { GraphErrorShape } from '@espalier/client';
import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  getOperationAST,
  introspectionFromSchema,
  OperationTypeNode,
  parse,
  printSchema,
  type IntrospectionQuery,
} from 'graphql';
import { readInputFile } from '../config/read-setting.ts';
import { UsageError } from '../config/start-error.ts';
import { connectionSettings, withConnection, type Connection } from './api/connection.ts';
import { command, json, type Options, type SettingFlags, type Values } from './command.ts';
import { ExitError, exitCodeOf, isClientError } from './failures.ts';
import { toAssignments } from './folder/folder-options.ts';
import { escapeControls, printJson } from './terminal/output.ts';

const options = {
  file: { value: 'path', about: 'Read the query from this file', completions: 'file' },
  variables: { value: 'json', about: 'The variables as a JSON object' },
  variablesFile: { value: 'path', about: 'Read the variables from this file', completions: 'file' },
  variable: {
    value: 'name=value',
    isRepeatable: true,
    about: 'Set a variable; the value is JSON if it can be parsed, otherwise text',
  },
  operation: { value: 'name', about: 'The operation to run, if the query contains several' },
  compact: { about: 'Print JSON on one line, even on a terminal' },
} as const satisfies Options;

export const query = command({
  about: 'Run a GraphQL query, mutation or subscription',
  words: [
    {
      name: 'text',
      about: 'The query; if it is missing or -, the command reads it from standard input',
      isOptional: true,
    },
  ],
  options,
  settings: connectionSettings,
  details: `Prints the data as JSON, and errors to standard error, one per line. A response with errors may contain partial data.
A subscription prints one line per event until Ctrl-C.`,
  examples: [
    "espalier query '{ viewer { user { username } } }'",
    'espalier query --file report.graphql --variable path=/Places --variable first=10',
    "espalier query 'subscription { folderChanges { kind folderId } }'",
  ],
  async run({ words: [word], options: chosen, flags }) {
    const document = await readDocument(word, chosen.file);
    if (document.trim() === '') throw new UsageError('The query is empty.');
    const operation = { document, variables: readVariables(chosen), operationName: chosen.operation };
    const isCompact = chosen.compact || !process.stdout.isTTY;
    await withConnection(flags, (connection) =>
      run(connection, operation, isCompact).catch((error: unknown) => reportErrors(error, isCompact)),
    );
  },
});

interface Operation {
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | undefined;
}

async function run({ client, signal }: Connection, operation: Operation, isCompact: boolean): Promise<void> {
  const { document, variables, operationName } = operation;
  const options = { signal, operationName };
  const kind = kindOf(document, operationName);
  if (kind === OperationTypeNode.SUBSCRIPTION) {
    for await (const event of client.subscribe(document, variables, options)) {
      await printJson(event, { isCompact: true });
    }
    return;
  }
  const send = kind === OperationTypeNode.MUTATION ? client.mutate : client.query;
  await printJson(await send(document, variables, options), { isCompact });
}

/** A document with a syntax error is sent as a query, so that the server explains the error. */
function kindOf(document: string, operationName: string | undefined): OperationTypeNode {
  try {
    return getOperationAST(parse(document), operationName)?.operation ?? OperationTypeNode.QUERY;
  } catch {
    return OperationTypeNode.QUERY;
  }
}

async function reportErrors(error: unknown, isCompact: boolean): Promise<never> {
  if (!(isClientError(error) && error.errors)) throw error;
  if (error.data !== undefined && error.data !== null) await printJson(error.data, { isCompact });
  for (const each of error.errors) console.error(`espalier: ${errorLine(each)}`);
  throw new ExitError(exitCodeOf(error));
}

function errorLine({ message, path, locations, extensions }: GraphErrorShape): string {
  const [location] = locations ?? [];
  const where = path ? `${path.join('.')}: ` : location ? `${location.line}:${location.column}: ` : '';
  const code = extensions?.['code'];
  return escapeControls(`${where}${message}${typeof code === 'string' ? ` (${code})` : ''}`);
}

async function readDocument(word: string | undefined, file: string | undefined): Promise<string> {
  if (file !== undefined) {
    if (word !== undefined)
      throw new UsageError('Specify the query either as an argument or with --file, not both.');
    return readInputFile('--file', file);
  }
  if (word !== undefined && word !== '-') return word;
  if (word === undefined && process.stdin.isTTY) {
    throw new UsageError("The query is missing. Run 'espalier query --help' for details.");
  }
  return readAll(process.stdin);
}

function readVariables(input: Values<typeof options>): Record<string, unknown> {
  const { variables, variablesFile, variable } = input;
  return {
    ...(variablesFile !== undefined &&
      toVariables('--variables-file', readInputFile('--variables-file', variablesFile))),
    ...(variables !== undefined && toVariables('--variables', variables)),
    ...toAssignments(variable, 'variable'),
  };
}

function toVariables(flag: string, input: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch (cause) {
    throw new UsageError(`${flag} is not valid JSON: ${escapeControls((cause as Error).message)}.`, {
      cause,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${flag} takes a JSON object, such as {"id": "…"}.`);
  }
  return value as Record<string, unknown>;
}

/** The same options for the schema of this version and for the schema of a remote server. */
const introspectionOptions = {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
} as const;

export const schema = command({
  about: 'Print the GraphQL schema',
  options: {
    json: { ...json, about: 'Print the result of an introspection query' },
    remote: {
      about: 'Print the schema of the server where you are logged in, which may have another version',
    },
  },
  settings: connectionSettings,
  details: 'Without --remote, prints the schema of this version and needs no server.',
  examples: ['espalier schema', 'espalier schema --remote --json'],
  async run({ options, flags }) {
    if (options.remote) {
      const introspection = await readRemoteSchema(flags);
      return { data: introspection, text: () => printSchema(buildClientSchema(introspection)) };
    }
    const text = readFileSync(new URL(import.meta.resolve('@espalier/contract/schema.graphql')), 'utf8');
    const data = options.json && introspectionFromSchema(buildSchema(text), introspectionOptions);
    return { data, text: text.trimEnd() };
  },
});

function readRemoteSchema(flags: SettingFlags): Promise<IntrospectionQuery> {
  return withConnection(flags, ({ client, signal }) =>
    client.query<IntrospectionQuery>(getIntrospectionQuery(introspectionOptions), {}, { signal }),
  );
}
