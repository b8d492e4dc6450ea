/** `espalier schema`: prints the graph schema of this program or of the server of the login. */

import { readFileSync } from 'node:fs';
import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  introspectionFromSchema,
  printSchema,
  type IntrospectionQuery,
} from 'graphql';
import { command, json, type Given } from './command.ts';
import { connectionSettings, withConnection } from './connection.ts';
import { print, printJson } from './output.ts';

/** The same of both, and all that this version has. */
const asked = {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
} as const;

export const printGraphSchema = command({
  options: {
    json: { ...json, about: 'Print the answer to an introspection query, for tools that want that' },
    remote: { about: 'Ask the server where you are logged in; it may have another version' },
  },
  settings: connectionSettings,
  details: 'Without --remote no server is needed: it is the schema of this version.',
  async run({ options, flags }) {
    if (options.remote) {
      const introspection = await askServer(flags);
      await (options.json ? printJson(introspection) : print(printSchema(buildClientSchema(introspection))));
      return;
    }
    const text = readFileSync(new URL(import.meta.resolve('@espalier/contract/schema.graphql')), 'utf8');
    await (options.json
      ? printJson(introspectionFromSchema(buildSchema(text), asked))
      : print(text.trimEnd()));
  },
});

function askServer(flags: Given['flags']): Promise<IntrospectionQuery> {
  return withConnection({ flags }, ({ client, signal }) =>
    client.query<IntrospectionQuery>(getIntrospectionQuery(asked), {}, { signal }),
  );
}
