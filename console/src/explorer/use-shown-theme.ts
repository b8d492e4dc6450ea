/** Which theme is shown now: what the person has chosen, or the system has. */

import { useSyncExternalStore } from 'react';

export type ShownTheme = 'light' | 'dark';

const system = matchMedia('(prefers-color-scheme: dark)');

function readTheme(): ShownTheme {
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

export function useShownTheme(): ShownTheme {
  return useSyncExternalStore(subscribe, readTheme);
}
