// Lint, with the walls of the house: who may import whom, and what may be touched in one place only.

import js from '@eslint/js';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

const ground = [
  'clock.ts',
  'cursor-seal.ts',
  'places.ts',
  'refusal.ts',
  'shown-url.ts',
  'start-error.ts',
  'turns.ts',
];
const domain = ['database', 'journal', 'accounts', 'sessions', 'access', 'folders'];

/** Each part of the server, and the parts it may import from. There is no arrow back up. */
const mayImport = {
  'clock.ts': [],
  'cursor-seal.ts': [],
  'places.ts': [],
  'refusal.ts': [],
  'shown-url.ts': [],
  'start-error.ts': [],
  'turns.ts': ['places.ts'],
  'nearest-name.ts': [],
  settings: [],
  'config.ts': ['nearest-name.ts', 'settings', 'shown-url.ts', 'start-error.ts'],
  database: ground,
  journal: [...ground, 'database'],
  accounts: [...ground, 'database', 'journal'],
  sessions: [...ground, 'database', 'journal', 'accounts'],
  access: [...ground, 'database', 'journal', 'accounts'],
  folders: [...ground, 'database', 'journal', 'access'],
  copy: [...ground, 'database'],
  backup: [...ground, 'database'],
  graph: [...ground, ...domain],
  http: [...ground, 'database/database.ts', 'graph', 'sessions'],
  'first-start.ts': [...ground, ...domain],
  'server.ts': [...ground, 'config.ts', ...domain, 'graph', 'http', 'first-start.ts'],
  cli: [
    ...ground,
    'config.ts',
    'settings',
    'nearest-name.ts',
    ...domain,
    'copy',
    'backup',
    'first-start.ts',
    'server.ts',
  ],
};

const walls = Object.entries(mayImport).map(([part, others]) => ({
  target: `./server/src/${part}`,
  from: './server/src',
  except: [part, ...others].map((path) => `./${path}`),
  message: `${part} may import only: ${others.join(', ') || 'nothing of the server'}.`,
}));

const ofDatabase = [
  { name: 'better-sqlite3', message: 'Only database/sqlite.ts knows SQLite.' },
  { name: 'pg', message: 'Only database/postgres.ts knows PostgreSQL.' },
];
const ofClient = { name: '@espalier/client', message: 'Only the command line is a client.' };

export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', '**/espalier-data/'] },
  js.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { 'import-x': importX },
    settings: {
      'import-x/extensions': ['.ts', '.js'],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
      'import-x/resolver-next': [
        createNodeResolver({
          extensions: ['.ts', '.js'],
          conditionNames: ['espalier-source', 'import', 'default'],
        }),
      ],
    },
    rules: {
      'import-x/no-cycle': 'error',
      'import-x/no-extraneous-dependencies': 'error',
      'import-x/no-default-export': 'error',
      'import-x/no-restricted-paths': ['error', { zones: walls }],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only config.ts reads the environment.' },
        { object: 'Date', property: 'now', message: 'Take the time from the clock that is passed in.' },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'Take the time from the clock that is passed in.',
        },
      ],
      'no-restricted-imports': ['error', { paths: [...ofDatabase, ofClient] }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-expressions': ['error', { allowTernary: true }],
    },
  },
  {
    files: ['contract/src/**', 'client/src/**'],
    rules: {
      'import-x/no-extraneous-dependencies': ['error', { devDependencies: ['**/*.test.ts'] }],
    },
  },
  {
    files: ['server/src/config.ts', 'server/src/clock.ts', 'client/src/clock.ts'],
    rules: { 'no-restricted-properties': 'off' },
  },
  { files: ['server/src/cli/**'], rules: { 'no-restricted-imports': ['error', { paths: ofDatabase }] } },
  {
    files: ['client/src/**'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { group: ['node:*', '@espalier/*'], message: 'The client runs in browsers, on its own.' },
          ],
        },
      ],
    },
  },
  {
    files: ['server/src/database/{sqlite,postgres}{,-*}.ts', 'tests/**', 'examples/**'],
    rules: { 'no-restricted-imports': 'off' },
  },
  { files: ['docs/**'], rules: { 'import-x/no-extraneous-dependencies': 'off' } },
  {
    files: ['**/*.test.ts', 'tests/**', 'bench/**', 'examples/**'],
    rules: {
      // node:test tells how a test ended by itself.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['test', 'describe', 'it', 'suite'], package: 'node:test' },
          ],
        },
      ],
      'import-x/no-extraneous-dependencies': 'off',
      'no-restricted-properties': 'off',
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        fetch: 'readonly',
        setTimeout: 'readonly',
        WebSocket: 'readonly',
      },
    },
    rules: { 'import-x/no-default-export': 'off' },
  },
);
