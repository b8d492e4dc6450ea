/**
 * What is used of Node's HTTP by name. An import of `node:http` reads all that it exports, its WebSocket too, and with it
 * loads a whole client for fetch: some fifty milliseconds and fourteen megabytes that a server does not need.
 */

export const { IncomingMessage, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http');
