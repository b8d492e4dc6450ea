/** The PostgreSQL of the tests does not sync, for the sake of speed, and who starts on it is warned of that. */

export function withoutHasteWarning(log: string): string {
  return log.replaceAll(/^\{"level":40,[^\n]*"PostgreSQL runs with [^\n]* off: [^\n]*\n/gm, '');
}
