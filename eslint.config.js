// Lint, with the walls of the house: who may import whom, and what may be touched in one place only.

import { join } from 'node:path';
import js from '@eslint/js';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const ground = [
  'activity.ts',
  'clock.ts',
  'concurrency',
  'cursor-seal.ts',
  'longest-auth-token.ts',
  'places.ts',
  'refusal.ts',
  'sealed-bytes.ts',
  'shared-look.ts',
  'shown-setting.ts',
  'shown-url.ts',
  'spans.ts',
  'start-error.ts',
  'turns.ts',
  'within.ts',
];
const domain = ['database', 'journal', 'accounts', 'sessions', 'access', 'folders'];

/** Each part of the server, and the parts it may import from. There is no arrow back up. */
const mayImport = {
  'activity.ts': ['clock.ts'],
  'clock.ts': [],
  concurrency: [],
  'cursor-seal.ts': [],
  'longest-auth-token.ts': [],
  'places.ts': [],
  'refusal.ts': [],
  'sealed-bytes.ts': [],
  'shared-look.ts': [],
  'shown-setting.ts': [],
  'shown-url.ts': [],
  'spans.ts': ['clock.ts', 'refusal.ts'],
  'start-error.ts': [],
  'trouble-log.ts': ['clock.ts'],
  'turns.ts': ['places.ts'],
  'within.ts': [],
  'nearest-name.ts': [],
  settings: ['longest-auth-token.ts'],
  'config.ts': ['nearest-name.ts', 'settings', 'shown-setting.ts', 'shown-url.ts', 'start-error.ts'],
  database: ground,
  journal: [...ground, 'database'],
  accounts: [...ground, 'database', 'journal'],
  sessions: [...ground, 'database', 'journal', 'accounts'],
  access: [...ground, 'database', 'journal', 'accounts'],
  folders: [...ground, 'database', 'journal', 'access'],
  copy: [...ground, 'database'],
  backup: [...ground, 'database'],
  tracing: ground,
  'health.ts': [...ground, 'database', 'sessions'],
  metrics: ['shared-look.ts', 'within.ts'],
  graph: [...ground, ...domain, 'health.ts'],
  http: [...ground, 'database/database.ts', 'graph', 'health.ts', 'sessions', 'trouble-log.ts'],
  'first-start.ts': [...ground, ...domain],
  workers: [...ground, 'config.ts', 'first-start.ts', 'http', 'metrics', 'sessions/attempt-lines.ts'],
  'watching.ts': [
    ...ground,
    'config.ts',
    'database/traced-database.ts',
    'graph/traced-graph.ts',
    'http/address.ts',
    'http/traced-requests.ts',
    'metrics',
    'tracing',
    'workers/cluster-worker.ts',
  ],
  'server.ts': [
    ...ground,
    'config.ts',
    ...domain,
    'backup',
    'graph',
    'health.ts',
    'http',
    'metrics',
    'first-start.ts',
    'trouble-log.ts',
    'watching.ts',
    'workers/cluster-worker.ts',
  ],
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
    'workers',
  ],
};

const walls = Object.entries(mayImport).map(([part, others]) => ({
  target: `./server/src/${part}`,
  from: './server/src',
  except: [part, ...others].map((path) => `./${path}`),
  message: `${part} may import only: ${others.join(', ') || 'nothing of the server'}.`,
}));

const consoleGround = ['console-address.ts', 'router.tsx', 'session', 'graph', 'actions', 'ui'];

/** The same for the console: its screens do not know each other, nor the frame around them. */
const consoleMayImport = {
  'console-address.ts': [],
  'router.tsx': ['console-address.ts'],
  session: ['console-address.ts'],
  graph: ['session'],
  actions: ['session', 'graph'],
  ui: ['console-address.ts', 'router.tsx', 'session', 'graph', 'actions'],
  tree: consoleGround,
  folder: [...consoleGround, 'tree'],
  people: [...consoleGround, 'tree'],
  operations: consoleGround,
  explorer: consoleGround,
  'screens.tsx': ['ui', 'folder', 'people', 'operations', 'explorer'],
  shell: [...consoleGround, 'tree', 'screens.tsx'],
};

const consoleWalls = Object.entries(consoleMayImport).map(([part, others]) => ({
  target: `./console/src/${part}`,
  from: './console/src',
  except: [part, ...others].map((path) => `./${path}`),
  message: `${part} may import only: ${others.join(', ') || 'nothing of the console'}.`,
}));

const ofDatabase = [
  { name: 'better-sqlite3', message: 'Only database/sqlite.ts knows SQLite.' },
  { name: 'pg', message: 'Only database/postgres.ts knows PostgreSQL.' },
];
const ofTraces = {
  group: ['@opentelemetry/*'],
  message:
    'Only tracing/, spans.ts and traced-*.ts import OpenTelemetry. They are loaded only if traces are sent.',
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
      // What others wrote imports nothing of ours: there is no way back through it, and reading it takes long.
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
      'import-x/no-restricted-paths': ['error', { zones: [...walls, ...consoleWalls] }],
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
    files: ['server/src/config.ts', 'server/src/clock.ts', 'client/src/clock.ts', 'console/src/ui/time.tsx'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['server/src/cli/**'],
    rules: { 'no-restricted-imports': ['error', { paths: ofDatabase, patterns: [ofTraces] }] },
  },
  {
    files: ['server/src/tracing/**', 'server/src/spans*.ts', 'server/src/**/traced-*.ts'],
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
    files: ['server/src/database/{sqlite,postgres}{,-*}.ts', 'tests/**', 'bench/**', 'examples/**'],
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
        document: 'readonly',
        localStorage: 'readonly',
      },
    },
    rules: { 'import-x/no-default-export': 'off' },
  },
);
