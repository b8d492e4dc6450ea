/** What the keys do in the tree, as the WAI-ARIA tree pattern has it, and what people know from their file managers. */

/** What is done with folders; whoever shows the tree does it. */
export type TreeCommand = 'rename' | 'create' | 'delete' | 'cut' | 'paste' | 'undo' | 'menu' | 'leave';

export type TreeKey =
  | {
      readonly kind: 'move';
      readonly by: number | 'first' | 'last' | 'pageUp' | 'pageDown';
      readonly extends: boolean;
    }
  | { readonly kind: 'in' | 'out' | 'openSiblings' | 'open' | 'toggle' }
  | { readonly kind: 'type'; readonly text: string }
  | { readonly kind: 'command'; readonly command: TreeCommand };

/** As much of a keyboard event as is needed. */
export interface KeyPress {
  readonly key: string;
  readonly code: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const moves: Readonly<Record<string, number | 'first' | 'last' | 'pageUp' | 'pageDown'>> = {
  ArrowUp: -1,
  ArrowDown: 1,
  Home: 'first',
  End: 'last',
  PageUp: 'pageUp',
  PageDown: 'pageDown',
};

const plain: Readonly<Record<string, TreeKey>> = {
  ArrowRight: { kind: 'in' },
  ArrowLeft: { kind: 'out' },
  Enter: { kind: 'open' },
  ' ': { kind: 'toggle' },
  '*': { kind: 'openSiblings' },
  F2: { kind: 'command', command: 'rename' },
  Insert: { kind: 'command', command: 'create' },
  Delete: { kind: 'command', command: 'delete' },
  ContextMenu: { kind: 'command', command: 'menu' },
  Escape: { kind: 'command', command: 'leave' },
};

const withControl: Readonly<Record<string, TreeCommand>> = {
  x: 'cut',
  v: 'paste',
  z: 'undo',
  backspace: 'delete',
};

/** Null if the key is none of the tree's. */
export function keyOf(press: KeyPress, isTyping: boolean): TreeKey | null {
  const { key, code, shiftKey, altKey } = press;
  const isControl = press.ctrlKey || press.metaKey;
  const command = (of: TreeCommand): TreeKey => ({ kind: 'command', command: of });
  if (altKey) return !isControl && code === 'KeyN' ? command('create') : null;
  if (isControl) {
    const of = shiftKey ? undefined : withControl[key.toLowerCase()];
    return of === undefined ? null : command(of);
  }
  if (shiftKey && key === 'F10') return command('menu');
  const by = moves[key];
  if (by !== undefined) return { kind: 'move', by, extends: shiftKey };
  if (key === ' ' && isTyping) return { kind: 'type', text: key };
  const known = plain[key];
  if (known && (!shiftKey || key === '*')) return known;
  return [...key].length === 1 ? { kind: 'type', text: key } : null;
}
