/** Errors that an operator must fix before the server can start. They are printed without a stack. */

export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** The command line or a setting is invalid. */
export class UsageError extends StartError {
  override readonly name = 'UsageError';
}
