/** Something the operator must mend before the server can start. Shown without a stack, one line for each thing. */

export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** The command was not written as it should be. */
export class UsageError extends StartError {
  override readonly name = 'UsageError';
}
