// Lint rules, with the import rules of the layers: which part may import which.

import { join } from 'node:path';
import js from '@eslint/js';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/** Imported by every part of the server. */
const foundation = ['clock.ts', 'refusal.ts', 'concurrency', 'config'];
const domain = ['database', 'journal', 'accounts', 'sessions', 'access', 'folders'];

/** Each part of the server with the parts that it may import. Imports point down only. */
const mayImport = {
  'clock.ts': [],
  'refusal.ts': [],
  concurrency: ['refusal.ts'],
  config: [],
  database: foundation,
  journal: [...foundation, 'database'],
  accounts: [...foundation, 'database', 'journal'],
  sessions: [...foundation, 'database', 'journal', 'accounts'],
  access: [...foundation, 'database', 'journal', 'accounts'],
  folders: [...foundation, 'database', 'journal', 'access'],
  maintenance: [...foundation, 'database'],
  observability: [...foundation, 'database', 'sessions'],
  graph: [...foundation, ...domain, 'observability'],
  http: [...foundation, 'database/database.ts', 'graph', 'observability', 'sessions'],
  startup: [...foundation, ...domain, 'observability', 'graph', 'http', 'maintenance'],
  cluster: [...foundation, 'http', 'observability', 'sessions/attempt-queues.ts', 'startup'],
  'server.ts': [...foundation, ...domain, 'maintenance', 'observability', 'graph', 'http', 'startup'],
  cli: [...foundation, ...domain, 'maintenance', 'startup', 'server.ts', 'cluster'],
};

const importZones = Object.entries(mayImport).map(([part, others]) => ({
  target: `./server/src/${part}`,
  from: './server/src',
  except: [part, ...others].map((path) => `./${path}`),
  message: `${part} may import only: ${others.join(', ') || 'nothing of the server'}.`,
}));

const consoleFoundation = ['console-address.ts', 'router.tsx', 'session', 'graph', 'actions', 'ui'];

/** The same for the console. Screens do not import each other. */
const consoleMayImport = {
  'console-address.ts': [],
  'router.tsx': ['console-address.ts'],
  session: ['console-address.ts'],
  graph: ['session'],
  actions: ['session', 'graph'],
  ui: ['console-address.ts', 'router.tsx', 'session', 'graph', 'actions'],
  tree: consoleFoundation,
  folder: [...consoleFoundation, 'tree'],
  people: [...consoleFoundation, 'tree'],
  operations: consoleFoundation,
  explorer: consoleFoundation,
  'screens.tsx': ['ui', 'folder', 'people', 'operations', 'explorer'],
  shell: [...consoleFoundation, 'tree', 'screens.tsx'],
};

const consoleImportZones = Object.entries(consoleMayImport).map(([part, others]) => ({
  target: `./console/src/${part}`,
  from: './console/src',
  except: [part, ...others].map((path) => `./${path}`),
  message: `${part} may import only: ${others.join(', ') || 'nothing of the console'}.`,
}));

const ofDatabase = [
  { name: 'better-sqlite3', message: 'Only database/sqlite/ imports SQLite.' },
  { name: 'pg', message: 'Only database/postgres/ imports PostgreSQL.' },
];
const ofTraces = {
  group: ['@opentelemetry/*'],
  message:
    'Only tracing.ts, spans.ts and traced-*.ts import OpenTelemetry. They are loaded only if traces are sent.',
};
const ofClient = { name: '@espalier/client', message: 'Only the command line is a client.' };

export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', '**/espalier-data/'] },
  js.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { 'import-x': importX },
    settings: {
      'import-x/extensions': ['.ts', '.tsx', '.js'],
      // Packages import nothing from this repository. Parsing them would take long.
      'import-x/ignore': ['/node_modules/'],
      'import-x/parsers': { [join(import.meta.dirname, 'eslint-import-parser.js')]: ['.ts', '.tsx'] },
      'import-x/resolver-next': [
        createNodeResolver({
          extensions: ['.ts', '.tsx', '.js'],
          conditionNames: ['espalier-source', 'import', 'default'],
        }),
      ],
    },
    rules: {
      'import-x/no-cycle': 'error',
      'import-x/no-extraneous-dependencies': 'error',
      'import-x/no-default-export': 'error',
      'import-x/no-restricted-paths': ['error', { zones: [...importZones, ...consoleImportZones] }],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only config/config.ts reads the environment.' },
        { object: 'Date', property: 'now', message: 'Take the time from the clock that is passed in.' },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'Take the time from the clock that is passed in.',
        },
      ],
      'no-restricted-imports': ['error', { paths: [...ofDatabase, ofClient], patterns: [ofTraces] }],
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
    files: [
      'server/src/config/config.ts',
      'server/src/clock.ts',
      'client/src/clock.ts',
      'console/src/ui/time.tsx',
    ],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['server/src/cli/**'],
    rules: { 'no-restricted-imports': ['error', { paths: ofDatabase, patterns: [ofTraces] }] },
  },
  {
    files: ['server/src/observability/{tracing,spans,spans.test}.ts', 'server/src/**/traced-*.ts'],
    rules: { 'no-restricted-imports': ['error', { paths: [...ofDatabase, ofClient] }] },
  },
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
    files: ['console/**'],
    plugins: { 'react-hooks': reactHooks },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      // All of them are bundled.
      'import-x/no-extraneous-dependencies': ['error', { devDependencies: true }],
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['node:*', 'espalier'], message: 'The console is a client, in a browser.' }] },
      ],
    },
  },
  {
    files: ['console/*.ts', 'console/**/*.test.ts'],
    rules: { 'no-restricted-imports': 'off', 'import-x/no-default-export': 'off' },
  },
  {
    files: ['server/src/database/{sqlite,postgres}/**', 'tests/**', 'bench/**', 'examples/**'],
    rules: { 'no-restricted-imports': 'off' },
  },
  { files: ['docs/**'], rules: { 'import-x/no-extraneous-dependencies': 'off' } },
  {
    files: ['release/**'],
    rules: { 'import-x/no-extraneous-dependencies': 'off', 'no-restricted-syntax': 'off' },
  },
  {
    files: ['**/*.test.ts', 'tests/**', 'bench/**', 'examples/**'],
    rules: {
      // node:test reports the result of a test by itself.
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
        document: 'readonly',
        localStorage: 'readonly',
      },
    },
    rules: { 'import-x/no-default-export': 'off' },
  },
);
