/** Where the console is: known from its own address, since a server behind a proxy may have a base path. */

/** With a slash at its end, such as `/console/`. */
export const consoleBase = import.meta.env.DEV
  ? '/'
  : new URL(/* @vite-ignore */ '../', import.meta.url).pathname;

/** The API root, which is where the console is, without its last part. */
export const apiRoot = consoleBase.replace(/(?:console\/)?$/, '') || '/';
