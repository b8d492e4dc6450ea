/** The default theme with the fonts of the reader's system, and diagrams. */

import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { MermaidDiagram } from './mermaid-diagram.ts';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('MermaidDiagram', MermaidDiagram);
  },
} satisfies Theme;
