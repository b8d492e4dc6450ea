/** What one query may cost. The numbers are settings; `docs/price.md` tells how they are counted. */

export interface Limits {
  /** Of the query's text, judged before it is parsed. */
  readonly maxQueryCharacters: number;
  readonly maxTokens: number;
  /** Of the parsed query, fragments expanded, judged before it is validated. */
  readonly maxFields: number;
  readonly maxDepth: number;
  /** Of the answer, judged while it is made. */
  readonly maxFolders: number;
  readonly maxValues: number;
  readonly maxTextBytes: number;
  readonly maxPageSize: number;
  readonly maxScanned: number;
  readonly maxExportFolders: number;
  readonly maxImportFolders: number;
  /** How many journal entries whoever follows the changes may be behind. */
  readonly maxBacklog: number;
  /** How long what was deleted can be restored. */
  readonly trashDays: number;
}
