/** The sidebar: the pages, grouped by reader. Pages that `order` does not name are listed after the named ones. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './repository.ts';

/** Pages outside docs/, with their paths in the site. */
export const otherPages: Readonly<Record<string, string>> = {
  'README.md': 'overview.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'report-a-vulnerability.md',
  'bench/README.md': 'benchmarks/index.md',
  'bench/RESULTS.md': 'benchmarks/results.md',
  'examples/README.md': 'examples.md',
};

/** Titles for pages with a heading that is unclear in the sidebar. */
const shortTitles: Readonly<Record<string, string>> = {
  'README.md': 'Overview',
  'docs/README.md': 'All pages',
  'bench/RESULTS.md': 'Benchmark results',
};

interface Item {
  readonly text: string;
  readonly link: string;
}

interface Group {
  readonly text: string;
  link?: string;
  readonly collapsed?: boolean;
  readonly items: (Item | Group)[];
}

/** The first pages of each group, in the order in which a new reader needs them. */
const order: Readonly<Record<string, readonly string[]>> = {
  clients: ['build-a-client', 'tokens', 'read-folders', 'change-folders', 'follow-changes', 'websockets'],
  operators: [
    'install',
    'docker',
    'systemd',
    'kubernetes',
    'reverse-proxy',
    'upgrade',
    'backup',
    'security',
    'single-sign-on',
  ],
  administrators: ['everyday-tasks', 'console', 'users', 'access', 'journal', 'command-line'],
  reference: ['configuration', 'commands', 'endpoints', 'schema', 'errors', 'limits'],
};

export function createSidebar(): Group[] {
  return [
    {
      text: 'Start',
      items: [
        { text: 'Overview', link: sitePath('README.md')! },
        ...['docs/README.md', 'docs/tutorial.md', 'docs/concepts.md', 'examples/README.md'].map(toItem),
      ],
    },
    folder('Developers of clients', 'clients'),
    folder('Operators', 'operators'),
    folder('Administrators', 'administrators'),
    folder('Reference', 'reference'),
    {
      text: 'Contributors',
      items: [
        ...[
          'CONTRIBUTING.md',
          'docs/architecture.md',
          'bench/RESULTS.md',
          'bench/README.md',
          'CHANGELOG.md',
          'SECURITY.md',
        ].map(toItem),
        { ...folder('Decisions', 'decisions'), link: sitePath('docs/decisions/README.md')! },
      ],
    },
  ];
}

function folder(text: string, name: string): Group {
  const first = order[name] ?? [];
  const rank = (page: string) => (first.includes(page) ? first.indexOf(page) : first.length);
  const pages = readdirSync(join(root, 'docs', name))
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => file.slice(0, -3))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return { text, collapsed: true, items: pages.map((page) => toItem(`docs/${name}/${page}.md`)) };
}

function toItem(file: string): Item {
  const title = shortTitles[file] ?? /^# (.+)$/m.exec(readFileSync(join(root, file), 'utf8'))?.[1] ?? file;
  return { text: title.replaceAll('`', ''), link: sitePath(file)! };
}

/** Returns the path of a Markdown file in the site, without its extension. Other files have none. */
export function sitePath(file: string): string | undefined {
  if (!file.endsWith('.md') || !existsSync(join(root, file))) return undefined;
  const page = otherPages[file] ?? (file.startsWith('docs/') ? file.slice('docs/'.length) : undefined);
  return page && `/${page.replace(/\.md$/, '').replace(/(^|\/)(README|index)$/, '$1')}`;
}
