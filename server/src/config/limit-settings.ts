/** Settings of the limits of one request, query or connection. */

import { setting, wholeNumber } from './setting.ts';

export const limitSettings = {
  maxQueryCharacters: setting('MAX_QUERY_CHARACTERS', wholeNumber(1_000, 10_000_000), '100000', {
    about: 'The maximum number of characters in the text of a query, without its variables.',
  }),
  maxTokens: setting('MAX_TOKENS', wholeNumber(100, 100_000), '5000', {
    about: 'The maximum number of tokens (names, values and punctuation) in a query.',
  }),
  maxFields: setting('MAX_FIELDS', wholeNumber(10, 100_000), '500', {
    about:
      'The maximum number of fields that a query selects. Each use of a fragment counts, and an expensive field counts several times.',
  }),
  maxDepth: setting('MAX_DEPTH', wholeNumber(5, 500), '64', {
    about: 'The maximum number of levels of nested fields in a query.',
  }),
  maxFolders: setting('MAX_FOLDERS', wholeNumber(1, 10_000_000), '20000', {
    about: 'The maximum number of folders in all lists of one response together.',
  }),
  maxValues: setting('MAX_VALUES', wholeNumber(1, 100_000_000), '400000', {
    about:
      'The maximum number of values in all lists of one response together. Each folder counts once for each field that the query selects from it.',
  }),
  maxTextBytes: setting('MAX_TEXT_BYTES', wholeNumber(1, 2 ** 30), String(32 * 2 ** 20), {
    about:
      'The maximum size of all texts of one response together, in bytes: names, titles, icons, descriptions, properties, paths, cursors, and `before` and `after` in the journal. Also the maximum of the icons, descriptions and properties of one duplicate.',
  }),
  maxPageSize: setting('MAX_PAGE_SIZE', wholeNumber(1, 10_000_000), '20000', {
    about: 'The maximum of `first` and `last`: the number of folders that a query requests in one page.',
  }),
  maxScanned: setting('MAX_SCANNED', wholeNumber(1, 1_000_000_000), '2000000', {
    about: 'The maximum number of folders that the server reads to search, filter or count for one response.',
  }),
  maxExportFolders: setting('MAX_EXPORT_FOLDERS', wholeNumber(1, 10_000_000), '100000', {
    about: 'The maximum number of folders in one export.',
  }),
  maxImportFolders: setting('MAX_IMPORT_FOLDERS', wholeNumber(1, 10_000_000), '100000', {
    about: 'The maximum number of folders that one import or duplicate creates.',
  }),
  maxSubscriptions: setting('MAX_SUBSCRIPTIONS', wholeNumber(1, 10_000), '100', {
    about:
      'The maximum number of subscriptions, queries and mutations that are open on one socket at the same time.',
  }),
  maxConnections: setting('MAX_CONNECTIONS', wholeNumber(1, 100_000), '200', {
    about: 'The maximum number of sockets and event streams that one user has open at the same time.',
  }),
  maxBacklog: setting('MAX_BACKLOG', wholeNumber(100, 1_000_000), '10000', {
    about:
      'The maximum number of journal entries that a subscription may be behind. Beyond it, the client must read the folders again.',
  }),
};
