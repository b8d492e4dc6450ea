/** Something the operator must mend before the server can start. Shown as one line, without a stack. */

export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** The command was not written as it should be. */
export class UsageError extends StartError {
  override readonly name = 'UsageError';
}
