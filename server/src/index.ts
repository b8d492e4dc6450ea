/** The library interface: starts a server inside another program. The command line uses the same functions. */

export { systemClock, type Clock } from './clock.ts';
export { readSettings, type Settings } from './config/config.ts';
export { startServer, type RunningServer, type ServerOptions } from './server.ts';
