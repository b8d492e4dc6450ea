/** A client of Espalier, for browsers and Node. */

export {
  createClient,
  type CallOptions,
  type Client,
  type ClientOptions,
  type Credentials,
  type RunDocument,
  type SessionEvent,
  type SubscribeOptions,
} from './client.ts';
export type { GraphDocument } from './document.ts';
export { EspalierError, type ErrorCode, type GraphErrorShape } from './errors.ts';
export type { Folder, FolderDetails, Folders, NewFolder } from './folders.ts';
export { tabStorage, type TabStorageOptions } from './tab-storage.ts';
export { memoryStorage, type Tokens, type TokenStorage } from './token-storage.ts';
export type { WatchedTree, WatchOptions } from './watched-tree.ts';
