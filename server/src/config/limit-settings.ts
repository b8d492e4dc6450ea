/** Settings of the limits of one request, query or connection. */

import { setting } from './setting.ts';
import { wholeNumber } from './setting-values.ts';

export const limitSettings = {
  maxQueryCharacters: setting({
    name: 'MAX_QUERY_CHARACTERS',
    about: 'How many characters the text of a query may have; variables do not count.',
    accepts: 'a whole number from 1000 to 10000000',
    default: '100000',
    parse: wholeNumber(1_000, 10_000_000),
  }),
  maxTokens: setting({
    name: 'MAX_TOKENS',
    about: 'How many tokens (names, values and signs) a query may have.',
    accepts: 'a whole number from 100 to 100000',
    default: '5000',
    parse: wholeNumber(100, 100_000),
  }),
  maxFields: setting({
    name: 'MAX_FIELDS',
    about: 'How many fields a query may select, counted with fragments expanded and costly fields weighted.',
    accepts: 'a whole number from 10 to 100000',
    default: '500',
    parse: wholeNumber(10, 100_000),
  }),
  maxDepth: setting({
    name: 'MAX_DEPTH',
    about: 'How many levels deep the fields of a query may be nested.',
    accepts: 'a whole number from 5 to 500',
    default: '64',
    parse: wholeNumber(5, 500),
  }),
  maxFolders: setting({
    name: 'MAX_FOLDERS',
    about: 'How many folders the lists of one answer may hold together.',
    accepts: 'a whole number from 1 to 10000000',
    default: '20000',
    parse: wholeNumber(1, 10_000_000),
  }),
  maxValues: setting({
    name: 'MAX_VALUES',
    about:
      'How many values the lists of one answer may hold together: each folder as many as fields are selected of it.',
    accepts: 'a whole number from 1 to 100000000',
    default: '400000',
    parse: wholeNumber(1, 100_000_000),
  }),
  maxTextBytes: setting({
    name: 'MAX_TEXT_BYTES',
    about:
      'How many bytes of texts one answer may hold: names, titles, icons, descriptions, properties, paths, cursors, and before and after in the journal.',
    accepts: 'a whole number from 1 to 1073741824',
    default: String(32 * 2 ** 20),
    parse: wholeNumber(1, 2 ** 30),
  }),
  maxPageSize: setting({
    name: 'MAX_PAGE_SIZE',
    about: 'How many folders a query may ask for in one page, with `first` or `last`.',
    accepts: 'a whole number from 1 to 10000000',
    default: '20000',
    parse: wholeNumber(1, 10_000_000),
  }),
  maxScanned: setting({
    name: 'MAX_SCANNED',
    about: 'How many folders may be looked at for one answer, to search, filter or count them.',
    accepts: 'a whole number from 1 to 1000000000',
    default: '2000000',
    parse: wholeNumber(1, 1_000_000_000),
  }),
  maxExportFolders: setting({
    name: 'MAX_EXPORT_FOLDERS',
    about: 'How many folders one export may hold.',
    accepts: 'a whole number from 1 to 10000000',
    default: '100000',
    parse: wholeNumber(1, 10_000_000),
  }),
  maxImportFolders: setting({
    name: 'MAX_IMPORT_FOLDERS',
    about: 'How many folders one import may create.',
    accepts: 'a whole number from 1 to 10000000',
    default: '100000',
    parse: wholeNumber(1, 10_000_000),
  }),
  maxSubscriptions: setting({
    name: 'MAX_SUBSCRIPTIONS',
    about: 'How many operations may be open on one socket at a time: subscriptions, queries and mutations.',
    accepts: 'a whole number from 1 to 10000',
    default: '100',
    parse: wholeNumber(1, 10_000),
  }),
  maxConnections: setting({
    name: 'MAX_CONNECTIONS',
    about: 'How many sockets and event streams one user may have open at a time.',
    accepts: 'a whole number from 1 to 100000',
    default: '200',
    parse: wholeNumber(1, 100_000),
  }),
  maxBacklog: setting({
    name: 'MAX_BACKLOG',
    about:
      'How many journal entries a client that follows the changes may be behind; beyond that it is told to read anew.',
    accepts: 'a whole number from 100 to 1000000',
    default: '10000',
    parse: wholeNumber(100, 1_000_000),
  }),
  keptAnswersMegabytes: setting({
    name: 'KEPT_ANSWERS_MB',
    about: 'Has no effect: responses are no longer cached.',
    hasNoEffect: true,
    accepts: 'a whole number from 0 to 1024',
    default: '8',
    parse: wholeNumber(0, 1_024),
  }),
};
