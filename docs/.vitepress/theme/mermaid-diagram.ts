/**
 * Draws a Mermaid diagram in the browser. Only pages with a diagram load Mermaid. Without JavaScript, the page
 * displays its text.
 */

import mermaidUrl from '@mermaid-js/tiny/dist/mermaid.tiny.js?url';
import { useData } from 'vitepress';
import { defineComponent, h, onMounted, ref, useId, watch } from 'vue';

interface Mermaid {
  initialize(options: object): void;
  render(id: string, text: string): Promise<{ svg: string }>;
}

let loading: Promise<Mermaid> | undefined;

function loadMermaid(): Promise<Mermaid> {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = mermaidUrl;
    script.onload = () => resolve((globalThis as unknown as { mermaid: Mermaid }).mermaid);
    script.onerror = () => reject(new Error(`Cannot load ${mermaidUrl}.`));
    document.head.append(script);
  });
  return loading;
}

async function draw(id: string, text: string, isDark: boolean): Promise<string> {
  const mermaid = await loadMermaid();
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    theme: isDark ? 'dark' : 'neutral',
    fontFamily: 'inherit',
    // Narrow, so that the texts stay readable in the width of a page.
    sequence: { width: 110, actorMargin: 20, mirrorActors: false },
  });
  return (await mermaid.render(id, text)).svg;
}

export const MermaidDiagram = defineComponent({
  props: { text: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData();
    const svg = ref('');
    const id = `diagram-${useId()}`;
    const text = decodeURIComponent(props.text);
    onMounted(() => {
      watch(isDark, async (dark) => void (svg.value = await draw(id, text, dark)), { immediate: true });
    });
    return () =>
      svg.value
        ? h('div', { class: 'mermaid-diagram', innerHTML: svg.value })
        : h('pre', { class: 'mermaid-diagram' }, text);
  },
});
