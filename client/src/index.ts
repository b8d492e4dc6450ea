/** The public API of the Espalier client for browsers and Node. */

export {
  createClient,
  type CallOptions,
  type Client,
  type CodeQuestion,
  type ConnectionState,
  type Credentials,
  type FinishedEnrolment,
  type LoginMethods,
  type LoginOptions,
  type Logins,
  type PasskeyAnswer,
  type PasskeyRequest,
  type RunDocument,
  type SessionEvent,
  type SignalOptions,
  type SingleSignOnOptions,
  type SingleSignOnResult,
  type SingleSignOnStart,
  type StartedEnrolment,
  type StartedView,
  type SubscribeOptions,
} from './client.ts';
export type {
  ApiKeyClientOptions,
  BaseClientOptions,
  ClientOptions,
  SessionClientOptions,
} from './client-options.ts';
export { newIdempotencyKey } from './calls.ts';
export type { Clock } from './clock.ts';
export type { GraphDocument, NoVariables } from './document.ts';
export {
  EspalierError,
  type ErrorCode,
  type ErrorDetails,
  type GraphErrorShape,
  type SecondFactorMethod,
} from './errors.ts';
export type {
  AccessLevel,
  Descendant,
  EffectiveAccess,
  Folder,
  FolderChanges,
  FolderDetails,
  FolderToImport,
  PathToImport,
  NewFolder,
  TrashedFolder,
} from './folder.ts';
export type {
  DeleteOptions,
  DuplicateOptions,
  EmptyTrashOptions,
  ExportOptions,
  Folders,
  ImportOptions,
  ImportResult,
  MoveOptions,
  RestoreOptions,
} from './folders.ts';
export { compareSiblings } from './tree/natural-order.ts';
export type { ListOptions } from './pages.ts';
export { tabStorage, type TabStorageOptions } from './session/tab-storage.ts';
export { memoryStorage, type Tokens, type TokenStorage } from './session/token-storage.ts';
export type { TreeChange, WatchedTree, WatchOptions } from './tree/watched-tree.ts';
export { apolloOptions, type ApolloOptions } from './adapters/apollo.ts';
export { authorizedFetch } from './adapters/authorized-fetch.ts';
export { urqlOptions, type UrqlOptions } from './adapters/urql.ts';
