// Lint rules, with the import rules of the layers: which part may import which.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type OxlintConfig } from 'oxlint';

/** Imported by every part of the server. */
const foundation = ['clock.ts', 'refusal.ts', 'concurrency', 'config'];
const domain = ['database', 'journal', 'accounts', 'sessions', 'access', 'folders'];

interface Layout {
  readonly folder: string;
  /** Each part with the parts that it may import. Imports point down only. */
  readonly layers: Readonly<Record<string, readonly string[]>>;
}

const server: Layout = {
  folder: 'server/src',
  layers: {
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
    cli: [...foundation, ...domain, 'maintenance', 'observability', 'startup', 'server.ts', 'cluster'],
  },
};

const consoleFoundation = ['console-address.ts', 'router.tsx', 'session', 'graph', 'actions', 'ui'];

/** Screens do not import each other. */
const webConsole: Layout = {
  folder: 'console/src',
  layers: {
    'console-address.ts': [],
    'router.tsx': ['console-address.ts'],
    session: ['console-address.ts'],
    graph: ['session'],
    actions: ['session', 'graph'],
    ui: ['console-address.ts', 'router.tsx', 'session', 'graph', 'actions'],
    'second-factor': consoleFoundation,
    tree: consoleFoundation,
    folder: [...consoleFoundation, 'tree'],
    people: [...consoleFoundation, 'tree', 'second-factor'],
    operations: consoleFoundation,
    explorer: consoleFoundation,
    'screens.tsx': ['ui', 'folder', 'people', 'operations', 'explorer'],
    shell: [...consoleFoundation, 'tree', 'second-factor', 'screens.tsx'],
  },
};

/** Packages that only one part may import. */
const packageRules = {
  sqlite: { regex: '^better-sqlite3$', message: 'Only database/sqlite/ imports SQLite.' },
  postgres: { regex: '^pg$', message: 'Only database/postgres/ imports PostgreSQL.' },
  client: { regex: '^@espalier/client(/|$)', message: 'Only the command line is a client.' },
  traces: {
    regex: '^@opentelemetry/',
    message:
      'Only tracing.ts, spans.ts and traced-*.ts import OpenTelemetry. They are loaded only if traces are sent.',
  },
};
type PackageRule = keyof typeof packageRules;

function restrictImports(
  patterns: readonly { regex: string; message: string }[],
  allowedPackages: readonly PackageRule[] = [],
): OxlintConfig['rules'] & object {
  const rules = Object.entries(packageRules).filter(
    ([name]) => !allowedPackages.includes(name as PackageRule),
  );
  return {
    'no-restricted-imports': ['error', { patterns: [...patterns, ...rules.map(([, rule]) => rule)] }],
  };
}

/** Matches a relative import of a part that is not listed. The regular expressions of oxlint have no lookahead. */
function forbidOtherParts(part: string, { folder, layers }: Layout) {
  const allowed = [part, ...layers[part]!];
  const forbidden = Object.keys(layers)
    .filter((other) => !allowed.includes(other))
    .flatMap((other) =>
      allowed.some((path) => path.startsWith(`${other}/`))
        ? readdirSync(join(import.meta.dirname, folder, other)).map((name) => `${other}/${name}`)
        : [other],
    )
    .filter((path) => !allowed.includes(path));
  return {
    regex: `^(\\.{1,2}/)+(${forbidden.join('|').replaceAll('.', String.raw`\.`)})(/|$)`,
    message: `${part} may import only: ${layers[part]!.join(', ') || 'no other part'}.`,
  };
}

const filesOf = ({ folder }: Layout, part: string) =>
  /\.tsx?$/.test(part) ? [`${folder}/${part}`] : [`${folder}/${part}/**`];

const serverOverrides = Object.keys(server.layers).flatMap((part) => {
  const layer = [forbidOtherParts(part, server)];
  return [
    {
      files: filesOf(server, part),
      rules: restrictImports(layer, part === 'cli' ? ['client'] : []),
    },
    { files: [`server/src/${part}/**/traced-*.ts`], rules: restrictImports(layer, ['traces']) },
  ];
});

const consoleOverrides = Object.keys(webConsole.layers).map((part) => ({
  files: filesOf(webConsole, part),
  rules: restrictImports(
    [
      forbidOtherParts(part, webConsole),
      { regex: '^(node:|espalier$)', message: 'The console runs in a browser and uses only the API.' },
    ],
    ['client'],
  ),
}));

/** Rules on top of the category "correctness". */
const recommended = [
  'no-case-declarations',
  'no-empty',
  'no-fallthrough',
  'no-prototype-builtins',
  'no-regex-spaces',
  'no-unexpected-multiline',
  'no-useless-assignment',
  'no-var',
  'prefer-const',
  'prefer-rest-params',
  'prefer-spread',
  'preserve-caught-error',
  'typescript/ban-ts-comment',
  'typescript/consistent-type-imports',
  'typescript/no-array-constructor',
  'typescript/no-empty-object-type',
  'typescript/no-explicit-any',
  'typescript/no-misused-promises',
  'typescript/no-namespace',
  'typescript/no-require-imports',
  'typescript/no-unnecessary-type-assertion',
  'typescript/no-unnecessary-type-constraint',
  'typescript/no-unsafe-argument',
  'typescript/no-unsafe-assignment',
  'typescript/no-unsafe-call',
  'typescript/no-unsafe-enum-comparison',
  'typescript/no-unsafe-function-type',
  'typescript/no-unsafe-member-access',
  'typescript/no-unsafe-return',
  'typescript/only-throw-error',
  'typescript/prefer-promise-reject-errors',
  'typescript/require-await',
  'typescript/restrict-plus-operands',
  'typescript/switch-exhaustiveness-check',
];

/** Rules of the category "correctness" that this code does not follow. */
const unused = [
  'typescript/no-meaningless-void-operator',
  'typescript/no-misused-spread',
  'typescript/require-array-sort-compare',
];

export default defineConfig({
  plugins: ['eslint', 'typescript', 'import', 'oxc'],
  jsPlugins: ['./lint-rules.js'],
  categories: { correctness: 'error' },
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  env: { node: true, browser: true, es2024: true },
  ignorePatterns: ['**/dist/**', '**/espalier-data/**'],
  rules: {
    ...Object.fromEntries(recommended.map((rule) => [rule, 'error'])),
    ...Object.fromEntries(unused.map((rule) => [rule, 'off'])),
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'max-lines-per-function': ['error', { max: 60 }],
    'no-restricted-properties': [
      'error',
      {
        object: 'process',
        property: 'env',
        message: 'Only config/config.ts and config/command-line.ts read the environment.',
      },
      { object: 'Date', property: 'now', message: 'Take the time from the clock that is passed in.' },
    ],
    'espalier/no-current-date': 'error',
    'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    'no-unused-expressions': ['error', { allowTernary: true }],
    ...restrictImports([]),
  },
  overrides: [
    ...serverOverrides,
    {
      files: ['server/src/observability/{tracing,spans,spans.test}.ts'],
      rules: restrictImports([forbidOtherParts('observability', server)], ['traces']),
    },
    {
      files: ['server/src/database/{sqlite,postgres}/**'],
      rules: restrictImports([forbidOtherParts('database', server)], ['sqlite', 'postgres']),
    },
    ...consoleOverrides,
    {
      files: ['console/**'],
      plugins: ['react'],
      rules: {
        'react/rules-of-hooks': 'error',
        'react/immutability': 'off',
        'react/incompatible-library': 'off',
        'react/refs': 'off',
        'react/set-state-in-effect': 'off',
      },
    },
    {
      files: ['client/src/**'],
      excludeFiles: ['**/*.test.ts'],
      rules: restrictImports([
        {
          regex: '^(node:|@espalier/)',
          message: 'The client runs in browsers. It must not import Node modules or our other packages.',
        },
      ]),
    },
    {
      // A separate entry point. Its bundle contains the parts of the contract that it uses.
      files: ['client/src/files/**'],
      excludeFiles: ['**/*.test.ts'],
      rules: restrictImports([
        {
          regex: '^(node:|@espalier/client)',
          message:
            'This entry point runs in browsers. It must not import Node modules or the main entry point.',
        },
      ]),
    },
    {
      files: [
        'server/src/config/{command-line,config}.ts',
        'server/src/clock.ts',
        'client/src/clock.ts',
        'console/src/ui/time.tsx',
      ],
      rules: { 'no-restricted-properties': 'off' },
    },
    {
      files: ['console/*.ts', 'console/**/*.test.ts', 'tests/**', 'bench/**', 'examples/**'],
      rules: { 'no-restricted-imports': 'off' },
    },
    {
      files: ['console/*.ts', '*.config.ts', 'docs/.vitepress/**'],
      rules: { 'import/no-default-export': 'off' },
    },
    { files: ['release/**'], rules: { 'espalier/no-current-date': 'off' } },
    {
      files: ['**/*.test.ts', 'tests/**', 'bench/**', 'examples/**'],
      rules: {
        // node:test reports the result of a test by itself.
        'typescript/no-floating-promises': [
          'error',
          {
            allowForKnownSafeCalls: [
              { from: 'package', name: ['test', 'describe', 'it', 'suite'], package: 'node:test' },
            ],
          },
        ],
        'max-lines-per-function': 'off',
        'no-restricted-properties': 'off',
      },
    },
    {
      files: ['**/*.js', '**/*.mjs'],
      rules: {
        ...Object.fromEntries(
          recommended.filter((rule) => rule.startsWith('typescript/')).map((rule) => [rule, 'off']),
        ),
        'import/no-default-export': 'off',
      },
    },
  ],
});
