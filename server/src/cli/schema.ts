/** `espalier schema`: prints the GraphQL schema of this program or of the server where the user is logged in. */

import { readFileSync } from 'node:fs';
import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  introspectionFromSchema,
  printSchema,
  type IntrospectionQuery,
} from 'graphql';
import { command, json, type CommandInput } from './command.ts';
import { connectionSettings, withConnection } from './api/connection.ts';
import { print, printJson } from './terminal/output.ts';

/** The same options for both sources. */
const introspectionOptions = {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
} as const;

export const printGraphSchema = command({
  options: {
    json: { ...json, about: 'Print the result of an introspection query' },
    remote: {
      about: 'Print the schema of the server where you are logged in, which may have another version',
    },
  },
  settings: connectionSettings,
  details: 'Without --remote, prints the schema of this version and needs no server.',
  async run({ options, flags }) {
    if (options.remote) {
      const introspection = await askServer(flags);
      await (options.json ? printJson(introspection) : print(printSchema(buildClientSchema(introspection))));
      return;
    }
    const text = readFileSync(new URL(import.meta.resolve('@espalier/contract/schema.graphql')), 'utf8');
    await (options.json
      ? printJson(introspectionFromSchema(buildSchema(text), introspectionOptions))
      : print(text.trimEnd()));
  },
});

function askServer(flags: CommandInput['flags']): Promise<IntrospectionQuery> {
  return withConnection({ flags }, ({ client, signal }) =>
    client.query<IntrospectionQuery>(getIntrospectionQuery(introspectionOptions), {}, { signal }),
  );
}
