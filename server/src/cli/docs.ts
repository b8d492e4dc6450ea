/** `espalier docs`: prints the pages of the documentation, which are installed with the program, as text for a terminal. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { styleText } from 'node:util';
import { Help } from 'commander';
import { readPagerCommand } from '../config/command-line.ts';
import { nearestName } from '../config/nearest-name.ts';
import { UsageError } from '../config/start-error.ts';
import { command, maxHelpWidth } from './command.ts';
import { docsFolder } from './package-files.ts';
import { print, formatTable } from './terminal/output.ts';

export const docs = command({
  about: 'Print a page of the documentation',
  words: [
    {
      name: 'topic',
      about: "The name of a page, from 'espalier docs', or the beginning of the name",
      isOptional: true,
      completions: listTopics(),
    },
  ],
  details: `Without a topic, lists the topics. The pages belong to this version and need no connection. On a terminal, shows the page in
the program that PAGER names, or in less.`,
  examples: ['espalier docs', 'espalier docs journal'],
  async run({ words: [topic] }) {
    if (topic === undefined) {
      const rows = listTopics().map((name) => [name, titleOf(readPage(name))]);
      await print(`${formatTable(['Topic', 'Title'], rows)}\n\nTo read a page, run 'espalier docs <topic>'.`);
      return;
    }
    const name = basename(topic.replace(/#.*$/, ''), '.md');
    const topics = listTopics();
    const [found, ...others] = topics.includes(name)
      ? [name]
      : topics.filter((each) => each.startsWith(name));
    if (found === undefined || others.length > 0) throw topicNotFoundError(name);
    await showText(
      formatPage(readPage(found), Math.min(process.stdout.columns || maxHelpWidth, maxHelpWidth)),
    );
  },
});

function listTopics(): readonly string[] {
  return [...findPages().keys()];
}

/** Returns the path of each page by its topic, the name of its file. Pages in one folder have the same readers. */
function findPages(): ReadonlyMap<string, string> {
  const paths = readdirSync(docsFolder(), { recursive: true, encoding: 'utf8' })
    .filter((path) => /^([a-z]+\/)?[a-z-]+\.md$/.test(path) && !path.startsWith('decisions/'))
    .sort((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
  return new Map(paths.map((path) => [basename(path, '.md'), path]));
}

function depthOf(path: string): number {
  return path.split('/').length;
}

function readPage(name: string): string {
  return readFileSync(`${docsFolder()}/${findPages().get(name)!}`, 'utf8');
}

function titleOf(page: string): string {
  return /^# (.+)$/m.exec(page)?.[1] ?? '';
}

function topicNotFoundError(name: string): UsageError {
  const meant = nearestName(name, listTopics());
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  return new UsageError(`There is no topic ${JSON.stringify(name)}.${hint} Run 'espalier docs' for a list.`);
}

/** Formats the Markdown of our own pages: headings, paragraphs, lists, tables and code blocks. */
export function formatPage(page: string, width: number): string {
  const help = new Help();
  const blocks = page
    .replaceAll(/<!--[^]*?-->\n*/g, '')
    .trim()
    .split(/\n{2,}(?=\S)/);
  const joined = blocks.reduce<string[]>((all, block) => {
    // A code block may contain empty lines.
    const last = all.at(-1);
    if (last?.startsWith('```') && !last.endsWith('```')) all[all.length - 1] = `${last}\n\n${block}`;
    else all.push(block);
    return all;
  }, []);
  return joined.map((block) => formatBlock(block, (text) => help.boxWrap(text, width), width)).join('\n\n');
}

function formatBlock(block: string, wrap: (text: string) => string, width: number): string {
  if (block.startsWith('```'))
    return block
      .replaceAll(/^```.*\n?/gm, '')
      .trimEnd()
      .replaceAll(/^(?=.)/gm, '    ');
  const [, marks, heading] = /^(#+) (.+)$/.exec(block) ?? [];
  if (marks && heading) {
    const text = formatInline(marks.length === 1 ? heading.toUpperCase() : heading);
    return styleText('bold', text, { stream: process.stdout });
  }
  if (block.startsWith('|')) return formatMarkdownTable(block, wrap, width);
  const lines = block.replaceAll(/(?<=\S)\n(?!\s*([-*]|\d+\.) )\s*/g, ' ').split('\n');
  return lines.map((line) => wrap(formatInline(line))).join('\n');
}

/** A table that is wider than the terminal becomes a list of its rows. */
function formatMarkdownTable(block: string, wrap: (text: string) => string, width: number): string {
  const [headings = [], , ...rows] = block
    .split('\n')
    .map((row) => row.replaceAll('\\|', '\u0000').split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => formatInline(cell.trim().replaceAll('\u0000', '|'))));
  const text = formatTable(headings, rows);
  if (text.split('\n').every((line) => line.length <= width)) return text;
  return rows
    .map(([first = '', ...cells]) => {
      const rest = cells.map((cell, index) => {
        const heading = headings[index + 1];
        return wrap(`  ${heading && headings.length > 2 ? `${heading}: ` : ''}${cell}`);
      });
      return [first, ...rest].join('\n');
    })
    .join('\n');
}

/** Keeps the target of a link only if it is another site. A link to another page names its topic. */
function formatInline(text: string): string {
  return text
    .replaceAll(/!\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\[([^\]]+)\]\((https?:[^)]+)\)/g, '$1 ($2)')
    .replaceAll(
      /\[([^\]]+)\]\((?:(?:\.\.\/)?[a-z]+\/|\.\.\/)?([a-z-]+)\.md(?:#[^)]*)?\)/g,
      '$1 (espalier docs $2)',
    )
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*([^*]+)\*\*/g, '$1')
    .replaceAll('`', '');
}

async function showText(text: string): Promise<void> {
  if (!process.stdout.isTTY) return print(text);
  const [program = 'less', ...args] = readPagerCommand();
  const pager = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'] });
  try {
    await once(pager, 'spawn');
  } catch {
    // The pager is not installed.
    return print(text);
  }
  // The user may quit the pager before the end of the page.
  pager.stdin.on('error', () => undefined).end(`${text}\n`);
  await once(pager, 'close');
}
