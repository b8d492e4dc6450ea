/**
 * `@espalier/client/files`: reads and writes folders as CSV, JSON and NDJSON files. A separate entry point, so that
 * programs without files do not load it.
 */

export {
  checkFolders,
  FolderChecker,
  type CheckedFolders,
  type FileRow,
  type FolderProblem,
} from './check-folders.ts';
export { cancelImport, type CancelOptions } from './cancel-import.ts';
export { decodeText } from './decode-text.ts';
export { FileError } from './file-error.ts';
export {
  fileFormatOf,
  fileFormats,
  formatFolders,
  parseFolders,
  parseRows,
  type FileFormat,
} from './folder-files.ts';
