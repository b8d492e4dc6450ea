/**
 * The PostgreSQL server of the tests does not sync, for speed. A node that starts on it logs a warning, which this
 * function removes.
 */

export function withoutSyncWarning(log: string): string {
  return log.replaceAll(/^\{"level":40,[^\n]*"PostgreSQL runs with [^\n]* off: [^\n]*\n/gm, '');
}
