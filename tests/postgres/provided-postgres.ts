/** The PostgreSQL server for the databases of the tests: a configured one, or one that is started for the run. */

import { PostgresServer } from './postgres-server.ts';

const variable = 'ESPALIER_TEST_POSTGRES_URL';
export const templateVariable = 'ESPALIER_TEST_POSTGRES_TEMPLATE';

/** Passes the server's URL to this process and its children by an environment variable. `onLog` receives the log. */
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
    `There is no PostgreSQL for the tests. Run npm test -- <file>, which starts one, or set ${variable} to the URL of a server.`,
  );
}

/** The name of a database that contains the schema and no rows, if there is one. */
export function providedTemplate(): string | undefined {
  return process.env[templateVariable];
}
