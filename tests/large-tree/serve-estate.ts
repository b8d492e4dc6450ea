/** Runs as a child process: a server that reports its CPU time on request, and stops when its parent exits. */

import { once } from 'node:events';
import { pino } from 'pino';
import { readSettings, startServer } from 'espalier';
import { systemClock } from '../../server/src/clock.ts';

interface Start {
  readonly databaseUrl: string;
  readonly username: string;
  readonly password: string;
}

const [{ databaseUrl, username, password }] = (await once(process, 'message')) as [Start];
const server = await startServer({
  settings: readSettings({
    environment: {
      ESPALIER_PORT: '0',
      ESPALIER_DATABASE_URL: databaseUrl,
      ESPALIER_ADMIN_USERNAME: username,
      ESPALIER_ADMIN_PASSWORD: password,
      ESPALIER_AUTH_TOKEN_SECONDS: '86400',
    },
  }).settings,
  clock: systemClock,
  log: pino({ level: 'warn' }, process.stderr),
  version: '0.0.0-test',
});
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!(user + system);
});
process.on('disconnect', () => void server.close());
process.send!(server.url);
