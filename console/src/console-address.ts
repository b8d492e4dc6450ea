/** The addresses of the console and of the API, derived from the URL of this file because the server can have a base path. */

/** Ends with a slash, for example `/console/`. */
export const consoleBase = import.meta.env.DEV
  ? '/'
  : new URL(/* @vite-ignore */ '../', import.meta.url).pathname;

/** The API root: the console's address without its last segment. */
export const apiRoot = consoleBase.replace(/(?:console\/)?$/, '') || '/';
