/** Global keyboard shortcuts, and the display of keys. */

import { Fragment, useEffect } from 'react';

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Shows each key in a frame, for example "Ctrl K". On a Mac, Ctrl is the command key. */
export function Keys({ of }: { of: string }) {
  return (
    <span className="keys">
      {of.split(' ').map((key, at) => (
        <Fragment key={at}>
          {at > 0 && ' '}
          <kbd>{isMac && key === 'Ctrl' ? '⌘' : key}</kbd>
        </Fragment>
      ))}
    </span>
  );
}

interface ShellKeys {
  readonly openPalette: () => void;
  readonly openShortcuts: () => void;
}

export function useShellKeys({ openPalette, openShortcuts }: ShellKeys): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      // Leaving the page would discard the content of an open dialog.
      if (event.defaultPrevented || document.querySelector('.dialog-backdrop')) return;
      const isControlled = event.ctrlKey || event.metaKey;
      if (isControlled && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        event.stopPropagation();
        openPalette();
      } else if (event.key === '?' && !isControlled && !isTyping(event.target)) {
        event.preventDefault();
        openShortcuts();
      }
    };
    // Captured before the explorer's editor, which would wait for a second key.
    addEventListener('keydown', press, { capture: true });
    return () => removeEventListener('keydown', press, { capture: true });
  }, [openPalette, openShortcuts]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  );
}
