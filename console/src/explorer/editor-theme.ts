/** The themes of the code editor, and which one is active. An editor accepts no CSS variables, so the colors repeat tokens.css. */

import { useGraphiQLActions, useMonaco } from '@graphiql/react';
import { useEffect, useSyncExternalStore } from 'react';

export type ActiveTheme = 'light' | 'dark';

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
    keyword: '#1c4a7d',
    identifier: '#134a31',
    string: '#8a5300',
    number: '#8c1d17',
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
    keyword: '#b4d5fb',
    identifier: '#b5ecd0',
    string: '#f0bd6a',
    number: '#ffc9c3',
  },
} as const;

/** Registers the themes when the editor is loaded, and applies the page's theme. */
export function useEditorTheme(theme: ActiveTheme): void {
  const monaco = useMonaco((state) => state.monaco);
  const actions = useGraphiQLActions();
  useEffect(() => {
    if (!monaco) return;
    for (const name of ['light', 'dark'] as const) {
      const palette = colors[name];
      const rulesFor = (names: string, foreground: string) =>
        names.split(' ').map((each) => ({ token: each, foreground }));
      monaco.editor.defineTheme(editorThemes[name], {
        base: palette.base,
        inherit: true,
        rules: [
          ...rulesFor('keyword keyword.gql keyword.json', palette.keyword),
          ...rulesFor('key.identifier.gql string.key.json type.identifier.gql', palette.identifier),
          ...rulesFor('string string.gql string.value.json', palette.string),
          ...rulesFor('number number.gql number.json', palette.number),
          ...rulesFor('argument.identifier.gql', palette.keyword),
          ...rulesFor('comment comment.gql', palette.soft),
        ],
        colors: {
          'editor.background': palette.surface,
          'editor.foreground': palette.text,
          'editorLineNumber.foreground': palette.soft,
          'editorLineNumber.activeForeground': palette.text,
          ...Object.fromEntries(
            [1, 2, 3, 4, 5, 6].map((depth) => [`editorBracketHighlight.foreground${depth}`, palette.soft]),
          ),
          'editorWidget.background': palette.raised,
          'editorWidget.border': palette.line,
          'editorHoverWidget.background': palette.raised,
          'editorSuggestWidget.background': palette.raised,
          'editorSuggestWidget.selectedBackground': palette.chosen,
          'editorSuggestWidget.selectedForeground': palette.text,
          'editorSuggestWidget.highlightForeground': palette.accent,
          'editorSuggestWidget.focusHighlightForeground': palette.accent,
          'input.background': palette.surface,
          'menu.background': palette.raised,
          'scrollbar.shadow': `${palette.surface}00`,
          focusBorder: palette.focus,
        },
      });
    }
    actions.setTheme(theme);
  }, [monaco, actions, theme]);
}

const darkModeQuery = matchMedia('(prefers-color-scheme: dark)');

function readTheme(): ActiveTheme {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') return theme;
  return darkModeQuery.matches ? 'dark' : 'light';
}

function subscribe(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  darkModeQuery.addEventListener('change', listener);
  return () => {
    observer.disconnect();
    darkModeQuery.removeEventListener('change', listener);
  };
}

export function useActiveTheme(): ActiveTheme {
  return useSyncExternalStore(subscribe, readTheme);
}
