/** Something the operator must mend before the server can start. Shown as one line, without a stack. */

export class StartError extends Error {
  override readonly name = 'StartError';
}
