/** `espalier query`: runs a query, mutation or subscription, and prints the response as JSON. */

import { text } from 'node:stream/consumers';
import { EspalierError, type GraphErrorShape } from '@espalier/client';
import { getOperationAST, OperationTypeNode, parse } from 'graphql';
import { readInputFile } from '../config/config.ts';
import { UsageError } from '../config/start-error.ts';
import { command } from './command.ts';
import { connectionSettings, withConnection, type Connection } from './api/connection.ts';
import { exitCodeOf, ExitError } from './failures.ts';
import { toAssignments } from './folder/folder-options.ts';
import { printJson } from './terminal/output.ts';
import { escapeControls } from './terminal/escape-text.ts';

export const query = command({
  words: [
    { name: 'text', about: 'The query; without it or with -, read from standard input', isOptional: true },
  ],
  options: {
    file: { value: 'path', about: 'Read the query from this file', completes: 'file' },
    variables: { value: 'json', about: 'The variables as a JSON object' },
    variablesFile: { value: 'path', about: 'Read the variables from this file', completes: 'file' },
    variable: {
      value: 'name=value',
      isRepeatable: true,
      about: 'A variable; the value is parsed as JSON if possible, otherwise it is text',
    },
    operation: { value: 'name', about: 'The operation to run, if the query contains several' },
    compact: { about: 'Print JSON on one line, also on a terminal' },
  },
  settings: connectionSettings,
  details: `Prints the data as JSON, and errors to standard error, one per line. A response with errors may contain partial data.
A subscription prints one line per event until Ctrl-C.`,
  async run({ words: [word], options, flags }) {
    const document = await readDocument(word, options.file);
    const variables = readVariables(options);
    const operation = { document, variables, operationName: options.operation };
    const isCompact = options.compact || !process.stdout.isTTY;
    await withConnection({ flags }, (connection) =>
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
  const options = { signal, ...(operationName !== undefined && { operationName }) };
  switch (kindOf(document, operationName)) {
    case OperationTypeNode.QUERY:
      return printJson(await client.query(document, variables, options), { isCompact });
    case OperationTypeNode.MUTATION:
      return printJson(await client.mutate(document, variables, options), { isCompact });
    case OperationTypeNode.SUBSCRIPTION:
      for await (const event of client.subscribe(document, variables, options)) {
        await printJson(event, { isCompact: true });
      }
  }
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
  if (!(error instanceof EspalierError && error.errors)) throw error;
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
    throw new UsageError('The query is missing. Run espalier query --help for details.');
  }
  return text(process.stdin);
}

function readVariables(input: {
  readonly variables: string | undefined;
  readonly variablesFile: string | undefined;
  readonly variable: readonly string[];
}): Record<string, unknown> {
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
