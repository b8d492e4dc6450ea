/** The library interface: starts a server inside another program. The command line uses the same functions. */

export { systemClock, type Clock } from './clock.ts';
export { readSettings } from './config/config.ts';
export type { Settings } from './config/settings-table.ts';
export { startServer, type RunningServer, type ServerOptions } from './server.ts';
