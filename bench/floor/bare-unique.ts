/** What a query takes that comes once: graphql-js parses, validates and executes it over objects in memory. */

import { readFileSync } from 'node:fs';
import { buildSchema, execute, parse, validate, type ExecutionResult } from 'graphql';
import type { Respond } from './respond.ts';

const schemaFile = new URL('../../contract/schema.graphql', import.meta.url);

/** The data is what ours answered to the same query, in which the name of the folder had another name. */
export function respondToUnique(recordedBody: string): Respond {
  const { data } = JSON.parse(recordedBody) as { data: { folder: Record<string, unknown> } };
  const [name] = Object.values(data.folder);
  const folder = { ...data.folder, name };
  const schema = buildSchema(readFileSync(schemaFile, 'utf8'));
  const rootValue = { folder: () => folder };
  return (body) => {
    const { query } = JSON.parse(body.toString()) as { query: string };
    const document = parse(query);
    const errors = validate(schema, document);
    if (errors.length > 0) throw errors[0]!;
    const result = execute({ schema, document, rootValue }) as ExecutionResult;
    return JSON.stringify(result);
  };
}
