/**
 * The values of `node:http` that the server uses. An import of `node:http` reads all of its exports. One of them loads a
 * whole client for `fetch`: about 50 ms and 14 MB that the server does not need.
 */

export const { ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http');
