/** Espalier as a library: start a server inside another program. The command line is built on the same. */

export { systemClock, type Clock } from './clock.ts';
export { readSettings, type Settings } from './config/config.ts';
export { startServer, type RunningServer, type ServerOptions } from './server.ts';
