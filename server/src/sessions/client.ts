/** Where a login or a refresh came from, for its user to recognise. */
export interface Client {
  readonly address: string | null;
  /** What the program calls itself. */
  readonly agent: string | null;
}
