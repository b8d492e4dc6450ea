/** The PostgreSQL on which tests make their databases: the one that is named, or one that is made for the occasion. */

import { PostgresServer } from './postgres-server.ts';

const variable = 'ESPALIER_TEST_POSTGRES_URL';
export const templateVariable = 'ESPALIER_TEST_POSTGRES_TEMPLATE';

/** The server's URL is in the environment meanwhile, for this process and for those that it starts; `onLog` is told what it said. */
export async function withPostgres<T>(
  work: () => Promise<T>,
  onLog: (text: string) => void = () => undefined,
): Promise<T> {
  if (process.env[variable]) return work();
  const server = await PostgresServer.start();
  process.env[variable] = server.url;
  try {
    return await work();
  } finally {
    delete process.env[variable];
    onLog(server.log);
    await server.remove();
  }
}

export function providedPostgresUrl(): string {
  const url = process.env[variable];
  if (url) return url;
  throw new Error(
    `There is no PostgreSQL to test on: run npm test -- <file>, which brings one, or name one in ${variable}.`,
  );
}

/** The name of a database with the schema and nothing in it, if there is one. */
export function providedTemplate(): string | undefined {
  return process.env[templateVariable];
}
