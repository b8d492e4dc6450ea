/** The themes of the code editor, and which one is active. An editor accepts no CSS variables, so the colors repeat tokens.css. */

import { useGraphiQLActions, useMonaco } from '@graphiql/react';
import { useEffect, useSyncExternalStore } from 'react';

export const editorThemes: Readonly<Record<ActiveTheme, string>> = {
  light: 'espalier-light',
  dark: 'espalier-dark',
};

const colors = {
  light: {
    base: 'vs',
    surface: '#ffffff',
    raised: '#ffffff',
    text: '#1a211c',
    soft: '#55605a',
    line: '#d9ddd6',
    chosen: '#dff0e6',
    accent: '#1d6b47',
    focus: '#1463c9',
    words: '#1c4a7d',
    names: '#134a31',
    texts: '#8a5300',
    numbers: '#8c1d17',
  },
  dark: {
    base: 'vs-dark',
    surface: '#1a1e1b',
    raised: '#222723',
    text: '#e6ebe7',
    soft: '#a3aea7',
    line: '#313833',
    chosen: '#1d3a2b',
    accent: '#7fd1a5',
    focus: '#8cbcff',
    words: '#b4d5fb',
    names: '#b5ecd0',
    texts: '#f0bd6a',
    numbers: '#ffc9c3',
  },
} as const;

/** Registers the themes when the editor is loaded, and applies the page's theme. */
export function useEditorTheme(theme: ActiveTheme): void {
  const monaco = useMonaco((state) => state.monaco);
  const actions = useGraphiQLActions();
  useEffect(() => {
    if (!monaco) return;
    for (const name of ['light', 'dark'] as const) {
      const of = colors[name];
      const token = (names: string, foreground: string) =>
        names.split(' ').map((each) => ({ token: each, foreground }));
      monaco.editor.defineTheme(editorThemes[name], {
        base: of.base,
        inherit: true,
        rules: [
          ...token('keyword keyword.gql keyword.json', of.words),
          ...token('key.identifier.gql string.key.json type.identifier.gql', of.names),
          ...token('string string.gql string.value.json', of.texts),
          ...token('number number.gql number.json', of.numbers),
          ...token('argument.identifier.gql', of.words),
          ...token('comment comment.gql', of.soft),
        ],
        colors: {
          'editor.background': of.surface,
          'editor.foreground': of.text,
          'editorLineNumber.foreground': of.soft,
          'editorLineNumber.activeForeground': of.text,
          ...Object.fromEntries(
            [1, 2, 3, 4, 5, 6].map((depth) => [`editorBracketHighlight.foreground${depth}`, of.soft]),
          ),
          'editorWidget.background': of.raised,
          'editorWidget.border': of.line,
          'editorHoverWidget.background': of.raised,
          'editorSuggestWidget.background': of.raised,
          'editorSuggestWidget.selectedBackground': of.chosen,
          'editorSuggestWidget.selectedForeground': of.text,
          'editorSuggestWidget.highlightForeground': of.accent,
          'editorSuggestWidget.focusHighlightForeground': of.accent,
          'input.background': of.surface,
          'menu.background': of.raised,
          'scrollbar.shadow': `${of.surface}00`,
          focusBorder: of.focus,
        },
      });
    }
    actions.setTheme(theme);
  }, [monaco, actions, theme]);
}
export type ActiveTheme = 'light' | 'dark';
const system = matchMedia('(prefers-color-scheme: dark)');
function readTheme(): ActiveTheme {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') return theme;
  return system.matches ? 'dark' : 'light';
}
function subscribe(listener: () => void): () => void {
  const watch = new MutationObserver(listener);
  watch.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  system.addEventListener('change', listener);
  return () => {
    watch.disconnect();
    system.removeEventListener('change', listener);
  };
}

export function useActiveTheme(): ActiveTheme {
  return useSyncExternalStore(subscribe, readTheme);
}
