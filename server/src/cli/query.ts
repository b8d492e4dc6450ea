/** `espalier query`: any query, mutation or subscription of the graph, and its answer as JSON. */

import { text } from 'node:stream/consumers';
import { EspalierError, type GraphErrorShape } from '@espalier/client';
import { getOperationAST, OperationTypeNode, parse } from 'graphql';
import { readInputFile } from '../config/config.ts';
import { UsageError } from '../config/start-error.ts';
import { command } from './command.ts';
import { connectionSettings, withConnection, type Connection } from './connection.ts';
import { exitCodeOf, ExitError } from './failures.ts';
import { toAssignments } from './folder/folder-options.ts';
import { printJson } from './output.ts';
import { escapeControls } from './escape-text.ts';

export const query = command({
  words: [{ name: 'text', about: 'The query; - or none reads it from standard input', isOptional: true }],
  options: {
    file: { value: 'path', about: 'The query is in this file', completes: 'file' },
    variables: { value: 'json', about: 'The variables, as a JSON object' },
    variablesFile: { value: 'path', about: 'The variables are in this file', completes: 'file' },
    variable: {
      value: 'name=value',
      isRepeatable: true,
      about: 'A variable; the value is JSON where it can be read as such, and a text otherwise',
    },
    operation: { value: 'name', about: 'Which operation, if the text has several' },
    compact: { about: 'Print JSON in one line on a terminal, too' },
  },
  settings: connectionSettings,
  details: `Prints the data as JSON. Errors go to standard error, a line each; what there is of data beside them is printed.
A subscription prints a line for each event, until Ctrl-C.`,
  async run({ words: [word], options, flags }) {
    const document = await readDocument(word, options.file);
    const variables = readVariables(options);
    const asked = { document, variables, operationName: options.operation };
    const isCompact = options.compact || !process.stdout.isTTY;
    await withConnection({ flags }, (connection) =>
      run(connection, asked, isCompact).catch((error: unknown) => tellErrors(error, isCompact)),
    );
  },
});

interface Asked {
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | undefined;
}

async function run({ client, signal }: Connection, asked: Asked, isCompact: boolean): Promise<void> {
  const { document, variables, operationName } = asked;
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

/** What cannot be read is for the server to explain. */
function kindOf(document: string, operationName: string | undefined): OperationTypeNode {
  try {
    return getOperationAST(parse(document), operationName)?.operation ?? OperationTypeNode.QUERY;
  } catch {
    return OperationTypeNode.QUERY;
  }
}

async function tellErrors(error: unknown, isCompact: boolean): Promise<never> {
  if (!(error instanceof EspalierError && error.errors)) throw error;
  if (error.data !== undefined && error.data !== null) await printJson(error.data, { isCompact });
  for (const each of error.errors) console.error(`espalier: ${errorLine(each)}`);
  throw new ExitError(exitCodeOf(error));
}

function errorLine({ message, path, locations, extensions }: GraphErrorShape): string {
  const [place] = locations ?? [];
  const where = path ? `${path.join('.')}: ` : place ? `${place.line}:${place.column}: ` : '';
  const code = extensions?.['code'];
  return escapeControls(`${where}${message}${typeof code === 'string' ? ` (${code})` : ''}`);
}

async function readDocument(word: string | undefined, file: string | undefined): Promise<string> {
  if (file !== undefined) {
    if (word !== undefined) throw new UsageError('The query is given twice: as a word and by --file.');
    return readInputFile('--file', file).text;
  }
  if (word !== undefined && word !== '-') return word;
  if (word === undefined && process.stdin.isTTY) {
    throw new UsageError('There is no query. espalier query --help tells how to give one.');
  }
  return text(process.stdin);
}

function readVariables(given: {
  readonly variables: string | undefined;
  readonly variablesFile: string | undefined;
  readonly variable: readonly string[];
}): Record<string, unknown> {
  const { variables, variablesFile, variable } = given;
  return {
    ...(variablesFile !== undefined &&
      toVariables('--variables-file', readInputFile('--variables-file', variablesFile).text)),
    ...(variables !== undefined && toVariables('--variables', variables)),
    ...toAssignments(variable, 'variable'),
  };
}

function toVariables(flag: string, given: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch (cause) {
    throw new UsageError(`${flag} holds no JSON: ${escapeControls((cause as Error).message)}.`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${flag} takes a JSON object, such as {"id": "…"}.`);
  }
  return value as Record<string, unknown>;
}
