/** An error in the content of a file, with its position if it has one. */
export class FileError extends Error {
  override readonly name = 'FileError';
}
