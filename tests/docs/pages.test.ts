/**
 * Checks every link with its anchor, every command with its flags, every setting and every query on the pages. Covers all
 * Markdown files of the repository except the changelog.
 */

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { buildSchema, parse, validate, type GraphQLSchema } from 'graphql';
import { createProgram } from '../../server/src/cli/commands.ts';
import { environmentName } from '../../server/src/config/read-setting.ts';
import { settingGroups } from '../../server/src/config/settings-table.ts';
import { commandLineSettings } from '../../server/src/config/command-line.ts';
import type { Setting } from '../../server/src/config/setting.ts';
import { checkCommand, findCommands } from './page-commands.ts';
import { root } from './follow-page.ts';
import { readPage } from './page-steps.ts';

const paths = globSync(['*.md', '{docs,examples,bench,deploy,server,client,contract,console}/**/*.md'], {
  cwd: root,
  exclude: (path) => path.includes('node_modules') || path.includes('dist') || path === 'CHANGELOG.md',
}).sort();

const pages = new Map(
  paths.map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return [path, { text, ...readPage(text) }];
  }),
);

describe('the pages', () => {
  test('contain no broken links', () => {
    const broken = [...pages].flatMap(([path, { prose }]) =>
      linksIn(prose.join('\n'))
        .filter((link) => !isValidLink(path, link))
        .map((link) => `${path}: ${link}`),
    );
    assert.deepEqual(broken, []);
  });

  test('are linked from docs/README.md', () => {
    const index = linksIn(pages.get('docs/README.md')!.text).map((link) => join('docs', link.split('#')[0]!));
    const pagesToLink = paths.filter(
      (path) => /^docs\/(?!decisions\/)/.test(path) && path !== 'docs/README.md',
    );
    assert.deepEqual(
      pagesToLink.filter((path) => !index.includes(path)),
      [],
    );
  });

  test('name only existing settings', () => {
    const settings: Setting<unknown>[] = [...Object.values(settingGroups), commandLineSettings].flatMap(
      (group) => Object.values<Setting<unknown>>(group),
    );
    const settingNames = new Set(
      settings.flatMap((setting) => [environmentName(setting), `${environmentName(setting)}_FILE`]),
    );
    const unknown = [...pages].flatMap(([path, { text }]) =>
      [...text.matchAll(/\bESPALIER_[A-Z_]*[A-Z]\b/g)]
        .filter(([name]) => !settingNames.has(name) && !otherVariables.test(name))
        .map(([name]) => `${path}: ${name}`),
    );
    assert.deepEqual([...new Set(unknown)], []);
  });

  test('name only existing commands with valid flags', async () => {
    const program = await createProgram();
    const wrong: string[] = [];
    let count = 0;
    for (const [path, { text, blocks }] of pages) {
      for (const command of findCommands(text, blocks)) {
        count++;
        const problem = checkCommand(command, program);
        if (problem) wrong.push(`${path}: ${command}: ${problem}`);
      }
    }
    assert.deepEqual(wrong, []);
    assert.ok(count > 100, `Only ${count} commands were found.`);
  });
});

describe('the queries on the pages', () => {
  let schema: GraphQLSchema;
  before(() => (schema = buildSchema(readFileSync(join(root, 'contract/schema.graphql'), 'utf8'))));

  test('are valid in the schema', () => {
    const wrong = [...pages].flatMap(([path, { blocks }]) =>
      blocks
        .filter(({ language }) => language === 'graphql')
        .flatMap(({ line, text }) =>
          findErrors(text, schema).map((problem) => `${path}, line ${line}: ${problem}`),
        ),
    );
    assert.deepEqual(wrong, []);
  });
});

test('the diagrams on the pages use supported kinds and no semicolon', () => {
  // Code hosts render only some kinds. A semicolon ends a line in Mermaid.
  const wrong = [...pages].flatMap(([path, { blocks }]) =>
    blocks
      .filter(({ language }) => language === 'mermaid')
      .filter(({ text }) => !/^(sequenceDiagram|flowchart (TD|LR))\n/.test(text) || text.includes(';'))
      .map(({ line }) => `${path}, line ${line}`),
  );
  assert.deepEqual(wrong, []);
});

/** Variables of tests and examples. */
const otherVariables = /^ESPALIER_(TEST_\w+|PASSWORD|VERSION)$/;

function findErrors(text: string, schema: GraphQLSchema): string[] {
  try {
    return validate(schema, parse(text)).map(({ message }) => message);
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Returns the links within the repository. */
function linksIn(text: string): string[] {
  const withoutCode = text.replaceAll(/`[^`\n]*`/g, '``');
  return [...withoutCode.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^\w+:/.test(link));
}

function isValidLink(path: string, link: string): boolean {
  const [file, anchor] = link.split('#') as [string, string | undefined];
  const target = file === '' ? path : join(dirname(path), file);
  if (!existsSync(join(root, target))) return false;
  if (anchor === undefined) return true;
  if (statSync(join(root, target)).isDirectory()) return false;
  const { prose } = pages.get(target) ?? readPage(readFileSync(join(root, target), 'utf8'));
  return anchorsOf(prose).has(anchor);
}

/** Creates anchors from headings like code hosts do. */
function anchorsOf(prose: readonly string[]): Set<string> {
  const seen = new Map<string, number>();
  const anchors = prose.flatMap((line) => {
    const [, heading] = /^#+ (.*)$/.exec(line) ?? [];
    if (heading === undefined) return [];
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const name = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return [count === 0 ? name : `${name}-${count}`];
  });
  return new Set(anchors);
}
