/**
 * Converts Markdown that is written for code hosts: links to repository files, diagrams, screenshots, titles of code
 * blocks.
 */

import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { isPublishable, publish } from './published-files.ts';
import { root } from './repository.ts';
import { sitePath } from './sidebar.ts';

/** Creates the anchor of a heading like code hosts do. */
export function headingAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

interface PageEnvironment {
  readonly path: string;
  /** The path of the file, if the page has another path in the site. */
  readonly realPath?: string;
}

export function convertMarkdown(md: MarkdownRenderer, base: string): void {
  convertLinks(md, base);
  convertFences(md);
  showDarkScreenshots(md);
}

/**
 * Points each link to a page of the site or to the published copy of a file. A link to any other file becomes plain
 * text.
 */
function convertLinks(md: MarkdownRenderer, base: string): void {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    const folder = dirname(fileOf(env as PageEnvironment));
    for (const { children } of tokens) {
      let isRemoved = false;
      for (const token of children ?? []) {
        if (token.type === 'link_close' && isRemoved) {
          hide(token);
          isRemoved = false;
        }
        const href = token.type === 'link_open' ? token.attrGet('href') : null;
        if (href === null || /^(\w+:|#)/.test(href)) continue;
        const [path, anchor] = decodeURI(href).split('#') as [string, string | undefined];
        const file = join(folder, path);
        const page = sitePath(file);
        if (page !== undefined) {
          token.attrSet('href', `${page}${anchor === undefined ? '' : `#${anchor}`}`);
        } else if (isPublishable(file)) {
          token.attrSet('href', base + publish(file));
          // A file, not a page of the site: the browser loads it.
          token.attrSet('target', '_self');
        } else {
          hide(token);
          isRemoved = true;
        }
      }
    }
  });
}

function hide(token: { type: string; tag: string; content: string; nesting: number }): void {
  Object.assign(token, { type: 'text', tag: '', content: '', nesting: 0 });
}

/** Returns the path of the page's file, relative to the repository. */
function fileOf({ realPath, path }: PageEnvironment): string {
  return relative(root, realPath ?? path);
}

/** Draws diagrams, and shows the file or the terminal of a code block. */
function convertFences(md: MarkdownRenderer): void {
  const fence = md.renderer.rules.fence!;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const token = tokens[index]!;
    const [language = '', ...words] = token.info.trim().split(/\s+/);
    if (language === 'mermaid')
      return `<MermaidDiagram text="${encodeURIComponent(token.content.trim())}" />\n`;
    const values = new Map(words.map((word) => word.split('=', 2) as [string, string | undefined]));
    const terminal = values.get('terminal');
    const title = values.get('file') ?? (terminal && language === 'sh' ? `Terminal ${terminal}` : undefined);
    // VitePress would read a number in the info string as a line to highlight.
    token.info = language;
    const code = fence(tokens, index, ...rest);
    return title === undefined ? code : `<p class="code-title">${md.utils.escapeHtml(title)}</p>\n${code}`;
  };
}

const pageOfBothThemes = 'docs/administrators/console-pictures.md';

/** In the dark theme, shows the dark picture of the same screen. */
function showDarkScreenshots(md: MarkdownRenderer): void {
  const image = md.renderer.rules.image!;
  md.renderer.rules.image = (tokens, index, options, env: PageEnvironment, self) => {
    const token = tokens[index]!;
    const src = token.attrGet('src') ?? '';
    const dark = src.replace(/-light\.png$/, '-dark.png');
    const hasDark = dark !== src && existsSync(join(root, dirname(fileOf(env)), dark));
    if (!hasDark || fileOf(env) === pageOfBothThemes) return image(tokens, index, options, env, self);
    const render = (source: string, theme: string) => {
      token.attrSet('src', source);
      token.attrSet('class', theme);
      return image(tokens, index, options, env, self);
    };
    return render(src, 'only-light') + render(dark, 'only-dark');
  };
}
